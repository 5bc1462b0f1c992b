//! Traces from tables of throughput.

use super::{MOST, OPPORTUNITY, Trace, TraceError};

const BITS: f64 = (OPPORTUNITY * 8) as f64;

/// Seconds that a trace may last: 49 days, in milliseconds of 32 bits.
const LONGEST: f64 = 4_000_000.0;

/// The columns of time and rate.
const COLUMNS: [&str; 2] = ["time_s", "rate_bps"];

impl Trace {
    /// A trace that delivers as fast as a table of comma-separated values says. Its first line
    /// names the columns. `time_s` is a time in seconds, and `rate_bps` the bits per second from
    /// then on until the time of the next line; the last line lasts as long as the one before it.
    /// Other columns play no part. The first time is the trace's beginning.
    ///
    /// An opportunity comes in the millisecond in which its 1,504 bytes have come together. As the
    /// last one is the end of a trace, what is left over then makes one more.
    ///
    /// # Errors
    /// The first line that is wrong.
    pub fn from_csv(text: &str) -> Result<Trace, TraceError> {
        let samples = samples(text)?;
        let start = samples[0].0;
        let (mut opportunities, mut bits) = (Vec::new(), 0.0);
        for (i, &(begin, rate, line)) in samples.iter().enumerate() {
            let before = &samples[i.saturating_sub(1)..];
            let end = samples.get(i + 1).map_or(2.0 * begin - before[0].0, |next| next.0);
            if end - start > LONGEST {
                return Err(wrong(line, format!("a trace lasts at most {LONGEST} s")));
            }
            let sent = rate * (end - begin);
            if (bits + sent) / BITS > (MOST - 1 - opportunities.len()) as f64 {
                return Err(wrong(line, format!("a trace has at most {MOST} opportunities")));
            }
            // What lacks a millionth of its bytes is there: sums are not exact.
            let due = ((bits + sent) / BITS + 1e-6).floor() as usize;
            opportunities
                .extend((1..=due).map(|n| ms(begin + (n as f64 * BITS - bits) / rate - start)));
            bits += sent - due as f64 * BITS;
            let last = i + 1 == samples.len();
            if last && (due > 0 || bits > 0.0 || !opportunities.is_empty()) {
                let end = ms(end - start).max(1);
                if opportunities.last().is_none_or(|&last| last < end) {
                    opportunities.push(end);
                }
            }
        }
        if opportunities.is_empty() {
            let line = samples.last().map_or(1, |sample| sample.2);
            return Err(wrong(line, "this never delivers: no line has a rate above 0".into()));
        }
        Ok(Trace { opportunities: opportunities.into() })
    }
}

/// The millisecond that has this time in seconds in it or at its end. A rounding error of a
/// nanosecond makes no other one.
fn ms(seconds: f64) -> u32 {
    (seconds * 1e3 - 1e-6).ceil().max(0.0) as u32
}

fn wrong(line: usize, message: String) -> TraceError {
    TraceError { line, message }
}

/// Times, rates and lines: two or more.
fn samples(text: &str) -> Result<Vec<(f64, f64, usize)>, TraceError> {
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(text.as_bytes());
    let unread = |error: csv::Error| wrong(1, error.to_string());
    let named = reader.headers().map_err(unread)?;
    let mut columns = [0; 2];
    for (column, name) in columns.iter_mut().zip(COLUMNS) {
        *column = named.iter().position(|column| column == name).ok_or_else(|| {
            wrong(1, format!("no column `{name}`; the first line is for example `time_s,rate_bps`"))
        })?;
    }
    let mut samples: Vec<(f64, f64, usize)> = Vec::new();
    for row in reader.records() {
        let row = row.map_err(unread)?;
        let line = row.position().map_or(1, |position| position.line() as usize);
        let mut values = [0.0; 2];
        for ((value, &column), name) in values.iter_mut().zip(&columns).zip(COLUMNS) {
            let cell = row.get(column).unwrap_or_default();
            *value = cell.parse().ok().filter(|v: &f64| v.is_finite() && *v >= 0.0).ok_or_else(
                || wrong(line, format!("`{cell}` is no {name}; it is a number from 0 on")),
            )?;
        }
        let [time, rate] = values;
        if let Some(&(before, ..)) = samples.last()
            && time <= before
        {
            return Err(wrong(line, format!("{time} comes after {before}; times go forward")));
        }
        samples.push((time, rate, line));
    }
    if samples.len() < 2 {
        let line = samples.last().map_or(2, |sample| sample.2);
        return Err(wrong(line, "a table has two lines or more below the first one".into()));
    }
    Ok(samples)
}

#[cfg(test)]
mod tests;
