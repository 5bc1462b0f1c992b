// A capture that is dropped on the page, explained by a worker of its own.

let explainer = null;

// Links of the pages lead to other pages, which the frame cannot fetch: it asks for them.
const LINKS = `<script>addEventListener("click", (event) => {
  const link = event.target.closest("a[href]")?.getAttribute("href") ?? "";
  const [, number, hash] = link.match(/^connection-(\\d+)\\.html(#.*)?$/) ?? [];
  if (number === undefined && link !== "index.html") return;
  event.preventDefault();
  parent.postMessage({ number, hash }, "*");
});</` + "script>";

function prepareExplain() {
  $("file").onchange = () => $("file").files[0] && guarded(explain($("file").files[0]));
  $("cancel").onclick = () => explainer?.stop();
  $("all").onclick = () => showExplained(explainer.index);
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) guarded(explain(file));
  });
  addEventListener("message", async ({ source, data }) => {
    if (source !== $("explanation").contentWindow || !explainer) return;
    if (data.number === undefined) return showExplained(explainer.index);
    const page = await explainer.ask("page", Number(data.number));
    if (page) showExplained(page, /^#t=[\d.,-]+$/.test(data.hash ?? "") ? data.hash : "");
  });
}

async function explain(file) {
  explainer?.stop();
  explainer = null;
  showError("");
  $("explanation").hidden = $("all").hidden = true;
  $("progress").hidden = $("cancel").hidden = false;
  $("progress").value = 0;
  $("explained").textContent = `Reading ${file.name}`;
  $("capture").scrollIntoView({ block: "nearest" });
  const began = performance.now();
  let own = null, said = "";
  try {
    own = await startWorker((part) => {
      $("progress").value = part;
    });
    explainer = own;
    const { index, packets, damage } = await own.ask("explain", file);
    own.index = index;
    said = `${file.name}: ${packets} packets in ${((performance.now() - began) / 1000).toFixed(1)} s.`;
    if (damage) said += ` It is damaged at ${damage}. What comes before is explained.`;
    showExplained(index);
  } catch (error) {
    own?.stop();
    if (own === explainer) explainer = null;
    said = error.message === "cancelled" ? `${file.name}: cancelled.` : "";
    if (!said) showError(error.message);
  }
  if (explainer && explainer !== own) return;
  $("explained").textContent = said;
  $("progress").hidden = $("cancel").hidden = true;
}

function showExplained(html, hash = "") {
  const start = hash ? `<script>location.hash = ${JSON.stringify(hash)};</` + "script>" : "";
  $("explanation").srcdoc = html.replace("</head>", () => `${start}${LINKS}</head>`);
  $("explanation").hidden = false;
  $("all").hidden = html === explainer.index;
}
