// The engine in its worker. `ask("run", ...)` is a promise of what worker.js answers.

const engine = { worker: null, waiting: new Map(), next: 1 };

function ask(call, ...args) {
  return new Promise((resolve, reject) => {
    const id = engine.next++;
    engine.waiting.set(id, { resolve, reject });
    engine.worker.postMessage({ id, call, args });
  });
}

async function startEngine() {
  const source = document.getElementById("worker").textContent;
  const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  engine.worker = worker;
  worker.onmessage = ({ data: { id, answer, error } }) => {
    const { resolve, reject } = engine.waiting.get(id);
    engine.waiting.delete(id);
    if (error === undefined) resolve(answer);
    else reject(new Error(error));
  };
  worker.onerror = (event) => showError(`The engine does not run here: ${event.message}`);
  await ask("begin", await inflated(document.getElementById("wasm").textContent));
}

// The bytes of a text that was compressed with gzip and written in base64.
async function inflated(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
