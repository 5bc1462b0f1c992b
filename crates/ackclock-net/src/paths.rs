//! The table of paths: which links a packet crosses one after the other.

/// One step of a path: over a link, or to the host at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop(u32);

const LOOKAHEAD: u32 = 1 << 31;

impl Hop {
    /// The path ends: the packet has reached its host.
    pub(crate) const HOST: Hop = Hop(u32::MAX);

    /// The link of a step that is not [`Hop::HOST`].
    #[inline]
    pub(crate) fn link(self) -> usize {
        (self.0 & !LOOKAHEAD) as usize
    }

    /// Whether packets may enter the link ahead of the clock ([`crate::lookahead`]).
    #[inline]
    pub(crate) fn allows_lookahead(self) -> bool {
        self.0 & LOOKAHEAD != 0
    }
}

/// The paths of a network, one after the other, each ended by [`Hop::HOST`].
#[derive(Debug, Default)]
pub(crate) struct Paths(Vec<Hop>);

impl Paths {
    /// Adds the path over these links. Returns the place of its first step.
    pub(crate) fn add(&mut self, links: impl IntoIterator<Item = u32>) -> u32 {
        let first = self.0.len() as u32;
        self.0.extend(links.into_iter().map(Hop));
        self.0.push(Hop::HOST);
        first
    }

    /// The step at a place.
    #[inline]
    pub(crate) fn at(&self, place: u32) -> Hop {
        self.0[place as usize]
    }

    /// The links from a place to the end of its path.
    pub(crate) fn links(&self, place: u32) -> impl Iterator<Item = u32> {
        let rest = self.0[place as usize..].iter().take_while(|&&hop| hop != Hop::HOST);
        rest.map(|hop| hop.link() as u32)
    }

    /// Lets packets enter these links ahead of the clock.
    pub(crate) fn allow_lookahead(&mut self, onto: impl Fn(u32) -> bool) {
        for hop in &mut self.0 {
            if *hop != Hop::HOST && onto(hop.0) {
                hop.0 |= LOOKAHEAD;
            }
        }
    }
}
