// Runs in a worker, after the script of wasm-bindgen: answers what the page asks.

let capture = null, explanation = null, told = 0;

// The module reads the capture by this, piece by piece.
self.readCapture = (from, to) => {
  if (performance.now() - told > 50) {
    told = performance.now();
    postMessage({ progress: from / capture.size });
  }
  return new Uint8Array(new FileReaderSync().readAsArrayBuffer(capture.slice(from, to)));
};

const calls = {
  explain: (file) => {
    capture = file;
    explanation = new wasm_bindgen.Explanation(file.size, file.name);
    return { index: explanation.index(), packets: explanation.packets(), damage: explanation.damage() };
  },
  page: (number) => explanation.page(number),
  names: () => JSON.parse(wasm_bindgen.names()),
  parts: (strategy) => JSON.parse(wasm_bindgen.parts(strategy)),
  opened: (text) => JSON.parse(wasm_bindgen.opened(text)),
  step: (text, strategy, at) => JSON.parse(wasm_bindgen.step(text, strategy, at)),
  picture: (text, strategies, title) => wasm_bindgen.picture(text, strategies, title),
  edited: (text, edits) => wasm_bindgen.edited(text, JSON.stringify(edits)),
  events: (text, strategy) => wasm_bindgen.events(text, strategy),
  // The edited scenario, and a run of it with each strategy; one that cannot run has an error.
  all: (base, edits, strategies) => {
    const text = wasm_bindgen.edited(base, JSON.stringify(edits));
    const runs = wasm_bindgen.runs(text, strategies).map((run, i) => {
      const answer = { strategy: strategies[i], error: run.error };
      if (!answer.error) Object.assign(answer, { about: JSON.parse(run.about), rows: run.rows, acks: run.acks });
      run.free();
      return answer;
    });
    return { text, runs };
  },
};

let ready;
onmessage = async ({ data: { id, call, args } }) => {
  try {
    if (call === "begin") {
      ready = wasm_bindgen({ module_or_path: args[0] });
      await ready;
      return postMessage({ id, answer: null });
    }
    await ready;
    const answer = calls[call](...args);
    const moved = (answer?.runs ?? []).flatMap((run) => (run.rows ? [run.rows.buffer, run.acks.buffer] : []));
    postMessage({ id, answer }, moved);
  } catch (error) {
    // After a fault of the module its memory is in no order any more.
    const dead = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
    postMessage({ id, error: String(error?.message ?? error), dead });
  }
};
