//! How many steps was taken by what could take long on a capture that is made for it. Counted in
//! tests alone, which say how that grows.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// So many more.
#[inline(always)]
pub(crate) fn count(steps: usize) {
    #[cfg(test)]
    STEPS.with(|all| all.set(all.get() + steps));
    let _ = steps;
}

/// How many `work` takes.
#[cfg(test)]
pub(crate) fn of(work: impl FnOnce()) -> usize {
    STEPS.with(|all| all.set(0));
    work();
    STEPS.with(|all| all.get())
}
