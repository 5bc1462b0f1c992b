// Begins.

addEventListener("error", (event) => showError(event.message));
addEventListener("unhandledrejection", (event) => showError(event.reason?.message ?? String(event.reason)));

(async () => {
  await new Promise(requestAnimationFrame);
  await startEngine();
  names = await ask("names");
  readTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readTheme();
    draw();
  });
  prepareControls();
  prepareExplain();
  try {
    const given = stateOf(location.hash);
    if (given) {
      state = given;
      await shown();
    }
    if (given) return ready();
  } catch (error) {
    await begin(FIGURES[0]);
    showError(error.message);
    return ready();
  }
  await begin(FIGURES[0]);
  past.length = 0;
  showControls();
  ready();
})().catch((error) => showError(`The playground does not run here: ${error.message}`));

addEventListener("hashchange", () => {
  try {
    const given = stateOf(location.hash);
    if (given && !same(given, state)) {
      viewOf = null;
      change(given);
    }
  } catch (error) {
    showError(error.message);
  }
});

function ready() {
  document.documentElement.dataset.ready = "yes";
}
