//! What the script of the page calls.

use std::io::{self, Read};

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// Of the capture that is read, the bytes from one place to another.
    #[wasm_bindgen(js_namespace = self, js_name = readCapture, catch)]
    fn read_capture(from: f64, to: f64) -> Result<Vec<u8>, JsValue>;
}

/// The capture that the worker has been given. It is read piece by piece, so that it need not fit
/// into memory.
struct Capture {
    at: u64,
    len: u64,
}

impl Read for Capture {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let to = self.len.min(self.at + into.len() as u64);
        if to == self.at {
            return Ok(0);
        }
        let bytes = read_capture(self.at as f64, to as f64)
            .map_err(|error| io::Error::other(format!("{error:?}")))?;
        let n = bytes.len().min(into.len());
        into[..n].copy_from_slice(&bytes[..n]);
        self.at += n as u64;
        Ok(n)
    }
}

/// [`crate::Explanation`].
#[wasm_bindgen]
pub struct Explanation(crate::Explanation);

#[wasm_bindgen]
impl Explanation {
    /// Of the capture that `readCapture` reads, which has so many bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(len: f64, name: &str) -> Result<Explanation, String> {
        crate::Explanation::new(Capture { at: 0, len: len as u64 }, name).map(Explanation)
    }

    /// [`crate::Explanation::index`].
    pub fn index(&self) -> String {
        self.0.index()
    }

    /// [`crate::Explanation::page`].
    pub fn page(&self, number: usize) -> Option<String> {
        self.0.page(number)
    }

    /// [`crate::Explanation::damage`].
    pub fn damage(&self) -> String {
        self.0.damage()
    }

    /// [`crate::Explanation::packets`].
    pub fn packets(&self) -> f64 {
        self.0.packets() as f64
    }
}

/// What a run gives to the page.
#[wasm_bindgen]
pub struct Answer(Result<crate::Rows, String>);

#[wasm_bindgen]
impl Answer {
    /// Why there is no run; empty if there is one.
    #[wasm_bindgen(getter)]
    pub fn error(&self) -> String {
        self.0.as_ref().err().cloned().unwrap_or_default()
    }

    /// [`crate::Rows::rows`]; once.
    #[wasm_bindgen(getter)]
    pub fn rows(&mut self) -> Vec<f64> {
        self.0.as_mut().map(|run| std::mem::take(&mut run.rows)).unwrap_or_default()
    }

    /// [`crate::Rows::acks`]; once.
    #[wasm_bindgen(getter)]
    pub fn acks(&mut self) -> Vec<f64> {
        self.0.as_mut().map(|run| std::mem::take(&mut run.acks)).unwrap_or_default()
    }

    /// [`crate::Rows::about`]; once.
    #[wasm_bindgen(getter)]
    pub fn about(&mut self) -> String {
        self.0.as_mut().map(|run| std::mem::take(&mut run.about)).unwrap_or_default()
    }
}

/// [`crate::runs`].
#[wasm_bindgen]
pub fn runs(text: &str, strategies: Vec<String>) -> Result<Vec<Answer>, String> {
    Ok(crate::runs(text, &strategies)?.into_iter().map(Answer).collect())
}

/// [`crate::events`].
#[wasm_bindgen]
pub fn events(text: &str, strategy: &str) -> Result<Vec<u8>, String> {
    crate::events(text, strategy)
}

/// [`crate::step`].
#[wasm_bindgen]
pub fn step(text: &str, strategy: &str, at: f64) -> Result<String, String> {
    crate::step(text, strategy, at as u64)
}

/// [`crate::picture`].
#[wasm_bindgen]
pub fn picture(text: &str, strategies: Vec<String>, title: &str) -> Result<String, String> {
    crate::picture(text, &strategies, title)
}

/// [`crate::opened`], as JSON.
#[wasm_bindgen]
pub fn opened(text: &str) -> Result<String, String> {
    serde_json::to_string(&crate::opened(text)?).map_err(|error| error.to_string())
}

/// [`crate::edited`], of edits as JSON.
#[wasm_bindgen]
pub fn edited(text: &str, edits: &str) -> Result<String, String> {
    let edits = serde_json::from_str(edits).map_err(|error| error.to_string())?;
    crate::edited(text, &edits)
}

/// [`crate::names`].
#[wasm_bindgen]
pub fn names() -> String {
    crate::names()
}

/// [`crate::parts`].
#[wasm_bindgen]
pub fn parts(strategy: &str) -> Result<String, String> {
    crate::parts(strategy)
}
