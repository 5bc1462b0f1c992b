//! Without SACK: was nothing of what was retransmitted needed?
//!
//! The retransmissions that went out after the one that an ACK answers are on their way when it
//! passes. If it acknowledges all that was sent, the receiver needs none of them, and it answers
//! each by one ACK that does not advance (RFC 5681 section 4.2). As many of those as there are
//! retransmissions prove it; fewer prove nothing, as one of them may have been needed and have
//! arrived together with the one before. New data may be answered so, too, but not before a round
//! trip. Once half of them are answered by then, no more than a lost segment can be mistaken: the
//! others are ahead of the new data.

use ackclock_tcp::Span;

/// What is on its way behind the ACK that acknowledged all.
#[derive(Clone, Copy, Debug)]
struct OnTheWay {
    /// The position that it acknowledged, and the window that it offered.
    ack: u64,
    window: u64,
    /// Number of the first retransmission, and how many there are.
    first: u32,
    many: u32,
    /// How many ACKs have repeated it.
    repeated: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Answers {
    on_the_way: Option<OnTheWay>,
}

impl Answers {
    /// An ACK acknowledges all up to `ack`, and these retransmissions went out after the one that it
    /// answers.
    pub fn acknowledged_all(&mut self, ack: u64, window: u64, numbers: std::ops::Range<u32>) {
        let (first, many) = (numbers.start, numbers.len() as u32);
        let on_the_way = OnTheWay { ack, window, first, many, repeated: 0 };
        self.on_the_way = (many > 0).then_some(on_the_way);
    }

    /// An ACK without data repeats `ack`. `new_data`: how long ago data went out behind it, if any
    /// did. Returns the number of the first retransmission once all of them are answered.
    pub fn repeated(
        &mut self,
        ack: u64,
        window: u64,
        new_data: Option<Span>,
        trip: Span,
    ) -> Option<u32> {
        let all = self.on_the_way.as_mut()?;
        let may_be_of_new_data =
            new_data.is_some_and(|ago| ago >= trip) && all.repeated < all.many.div_ceil(2);
        if ack != all.ack || window != all.window || may_be_of_new_data {
            self.on_the_way = None;
            return None;
        }
        all.repeated += 1;
        let (first, answered) = (all.first, all.repeated == all.many);
        if answered {
            self.on_the_way = None;
        }
        answered.then_some(first)
    }
}
