//! Data in a client's SYN (RFC 7413).

use ackclock_tcp::wire::Control;

use super::Open;
use super::budget::Budget;
use super::input::{Data, Input};
use crate::packet::Packet;

impl Open {
    /// The payload of the client's SYN counts as sent if the server takes it. Where the SYN/ACK
    /// acknowledges the SYN alone, it is retransmitted at once (RFC 7413 section 4.2.2, Linux's
    /// `tcp_rcv_fastopen_synack`), and that is no loss. A SYN that comes again without it says
    /// nothing, unless a FIN in it is to follow.
    #[cold]
    pub(super) fn settle_syn_data(&mut self, p: &Packet, one: usize, budget: &mut Budget) {
        let syn = p.control.contains(Control::SYN);
        if one == 0 && syn && p.len == 0 && !p.control.contains(Control::FIN) {
            return;
        }
        let Some(data) = self.syn_data.take() else { return };
        if one == 1 && syn && p.control.contains(Control::ACK) && p.ack == data.seq {
            self.ends[0].forget_data(data.seq);
        } else {
            self.deliver_syn_data(*data, budget);
        }
    }

    pub(super) fn deliver_syn_data(&mut self, data: Data, budget: &mut Budget) {
        self.senders[1].peer_data(data.at);
        self.pass_on_early(0, Input::Data(data), budget);
    }
}
