// Arrow keys go from mark to mark of the chart and read what hovering over it tells.
{
  const chart = document.currentScript.parentElement;
  const marks = [...chart.querySelectorAll("g > title")].map((title) => title.parentElement);
  let at = -1;
  const go = (to) => {
    marks[at]?.classList.remove("reached");
    at = Math.max(0, Math.min(marks.length - 1, to));
    marks[at].classList.add("reached");
    marks[at].scrollIntoView({ block: "nearest", inline: "nearest" });
    chart.querySelector("output").textContent = marks[at].firstChild.textContent.replaceAll("\n", "; ");
  };
  const moves = {
    ArrowRight: () => at + 1,
    ArrowLeft: () => at - 1,
    Home: () => 0,
    End: () => marks.length - 1,
  };
  chart.addEventListener("keydown", (event) => {
    if (!moves[event.key] || marks.length === 0) return;
    event.preventDefault();
    go(moves[event.key]());
  });
}
