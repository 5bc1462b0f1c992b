// The engine in workers: one for what is drawn, and one for a capture, which takes longer.

let bytesOfModule = null;

// A worker; `ask("runs", ...)` is a promise of what worker.js answers.
async function startWorker(onProgress = () => {}) {
  const source = document.getElementById("worker").textContent;
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = new Worker(url), waiting = new Map();
  let next = 1;
  const ask = (call, ...args) => new Promise((resolve, reject) => {
    waiting.set(next, { resolve, reject });
    worker.postMessage({ id: next++, call, args });
  });
  const fail = (error) => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.onmessage = ({ data: { id, answer, error, progress, dead } }) => {
    if (progress !== undefined) return onProgress(progress);
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) resolve(answer);
    else reject(Object.assign(new Error(dead ? `The engine failed: ${error}` : error), { dead }));
  };
  worker.onerror = (event) => fail(new Error(`The engine does not run here: ${event.message}`));
  bytesOfModule ??= await inflated(document.getElementById("wasm").textContent);
  await ask("begin", bytesOfModule);
  const stop = () => {
    worker.terminate();
    URL.revokeObjectURL(url);
    fail(new Error("cancelled"));
  };
  return { ask, stop };
}

let engine = null;
async function startEngine() {
  engine = await startWorker();
}

// Asks the engine; one that failed begins anew.
async function ask(...question) {
  try {
    return await engine.ask(...question);
  } catch (error) {
    if (error.dead) await startEngine();
    throw error;
  }
}

// The bytes of a text that was compressed with gzip and written in base64.
async function inflated(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
