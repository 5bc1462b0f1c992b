//! What applications send.

use ackclock_tcp::Span;

use super::ranges::positive_rate;
use crate::scenario::error::{Checked, fail};
use crate::scenario::model::Source;
use crate::scenario::path::{Step, child};
use crate::scenario::units::{Amount, Size};

/// Checks the source under the key `at`.
pub(super) fn check_source(source: &Source, at: &[Step]) -> Checked {
    match source {
        Source::Bulk => Ok(()),
        Source::Bytes(Size(0)) | Source::Segments(0) => fail(at, "nothing to send"),
        Source::Bytes(_) => Ok(()),
        Source::Segments(n) if *n > u64::from(u32::MAX) => {
            fail(at, format!("at most {} segments", u32::MAX))
        }
        Source::Segments(_) => Ok(()),
        Source::Draw(distribution) => distribution.check(&child(at, "draw")),
        Source::OnOff(s) => {
            let at = child(at, "on_off");
            positive_rate(s.rate, &child(&at, "rate"))?;
            match s.write {
                Some(Amount::Bytes(0) | Amount::Segments(0)) => {
                    fail(&child(&at, "write"), "a write holds at least 1 byte")
                }
                Some(write) if write.bytes(u32::from(u16::MAX)) > u64::from(u32::MAX) => {
                    fail(&child(&at, "write"), "a write is below 4gb")
                }
                _ if s.on.0 == Span::ZERO && s.off.0 == Span::ZERO => {
                    fail(&child(&at, "off"), "`on` and `off` are both 0s")
                }
                _ => Ok(()),
            }
        }
        Source::Web(web) => {
            let at = child(at, "web");
            if !(1.0..=1e6).contains(&web.responses) {
                fail(&child(&at, "responses"), "a mean number of responses is 1 to 1000000")?;
            }
            if web.exactly && web.responses.fract() != 0.0 {
                fail(&child(&at, "responses"), "with `exactly` it is a whole number")?;
            }
            web.size.check(&child(&at, "size"))
        }
        Source::Writes(writes) => {
            let at = child(at, "writes");
            if writes.is_empty() {
                fail(&at, "nothing to send")?;
            }
            for (i, write) in writes.iter().enumerate() {
                let at = child(&at, i);
                if i > 0 && write.at < writes[i - 1].at {
                    fail(&child(&at, "at"), "writes are in the order of their times")?;
                }
                if matches!(write.amount, Amount::Bytes(0) | Amount::Segments(0)) {
                    fail(&child(&at, "amount"), "a write holds at least 1 byte")?;
                }
            }
            Ok(())
        }
    }
}
