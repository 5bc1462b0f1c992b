//! What routers have asked of a sender whose packets were too big, in words.

use ackclock_trace::{AskedShorter, Flow};

use super::words::count;
use crate::explained::{End, Found, sent_by};

/// Of each end that routers have asked for shorter packets: what they said, and what it did.
pub(crate) fn shorter(found: &Found) -> Vec<String> {
    found.flows().filter_map(|(end, _)| of(found, end)).collect()
}

/// The same of one end.
pub(super) fn of(found: &Found, end: End) -> Option<String> {
    let flow = found.flow(end);
    let asked = flow.asked_shorter.as_ref()?;
    let (router, name) = (asked.router, end.name());
    let mut text = match asked.mtu {
        Some(mtu) => {
            format!("a router at {router} asked the {name} for packets of at most {mtu} bytes")
        }
        None => format!(
            "a router at {router} told the {name} that its packets are too big, but not what it \
             takes (RFC 1191 section 5)"
        ),
    };
    match cut(flow) {
        _ if asked.ignored => text.push_str(", which it did not heed: a timer expired"),
        0 => {}
        again => {
            let again = count(again as u64, "segment");
            text.push_str(&format!(
                "; {again} went again for that, which is no sign of congestion"
            ));
            let mut sent = flow.timeouts.iter().filter_map(|timeout| sent_by(flow, timeout));
            if sent.any(|r| r.too_big) {
                text.push_str(", but the sender waited for its timer");
            }
        }
    }
    Some(text)
}

/// Segments that went again for that.
fn cut(flow: &Flow) -> usize {
    flow.retransmissions.iter().filter(|r| r.too_big).count()
}

/// What to do, where that is what most retransmissions were for, or its sender did not heed it.
pub(super) fn advice(flow: &Flow, sender: &str, receiver: &str) -> Option<String> {
    let &AskedShorter { router, ignored, .. } = flow.asked_shorter.as_deref()?;
    if ignored {
        return Some(format!(
            "{sender}: it does not heed the router at {router}, which asks for shorter packets; \
             let ICMP in (type 3 code 4, ICMPv6 type 2), or let it search for what the path takes \
             (RFC 8899; Linux: set net.ipv4.tcp_mtu_probing to 1)"
        ));
    }
    let data = flow.retransmissions.iter().filter(|r| r.len > 0).count();
    (cut(flow) * 2 > data).then(|| {
        format!(
            "{sender} to {receiver}: packets are too big for the link behind {router}; clamp the \
             MSS there (nftables: tcp option maxseg size set rt mtu), or lower the MTU of {sender}"
        )
    })
}

#[cfg(test)]
mod tests;
