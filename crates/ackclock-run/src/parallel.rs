//! Work on several threads, with results in a fixed order.

use crate::{Cancel, Error};

/// Does `one` for each item on `threads` threads (0: one per processor), with the results in the
/// order of the items. In a browser there is one thread.
///
/// # Errors
/// [`Error::Threads`] if there can be no such threads, and the first error of `one`.
#[cfg(not(target_family = "wasm"))]
pub fn in_parallel<T, R, F>(items: &[T], threads: u16, one: F) -> Result<Vec<R>, Error>
where
    T: Sync,
    R: Send,
    F: Fn(&T) -> Result<R, Error> + Sync + Send,
{
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::{iter, thread};

    let threads = match threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads.into(),
    };
    let threads = threads.min(items.len().max(1));
    // One by one, since an item may take a thousand times as long as another; and in their order,
    // so that what is cancelled is their end.
    let next = AtomicUsize::new(0);
    let work = || {
        let turn = || next.fetch_add(1, Ordering::Relaxed);
        let items = iter::repeat_with(turn).map_while(|i| Some((i, items.get(i)?)));
        items.map(|(i, item)| (i, one(item))).collect::<Vec<_>>()
    };
    // A thread of its own would not use what the allocator has free here.
    let done = if threads == 1 {
        vec![work()]
    } else {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|e| Error::Threads(e.to_string()))?.broadcast(|_| work())
    };
    let mut done: Vec<(usize, Result<R, Error>)> = done.into_iter().flatten().collect();
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

/// One after the other: a browser has no threads for it.
#[cfg(target_family = "wasm")]
pub fn in_parallel<T, R, F>(items: &[T], _threads: u16, one: F) -> Result<Vec<R>, Error>
where
    F: Fn(&T) -> Result<R, Error>,
{
    items.iter().map(one).collect()
}

/// As [`in_parallel`], but what was [cancelled](Error::Cancelled) is `None`, and what was done
/// before is kept. Items begin in the order of their turns, and none once `cancel` is set.
///
/// # Errors
/// [`Error::Threads`], and the first other error of `one`.
pub fn in_parallel_until<T, R, F, K: Ord>(
    items: &[T],
    (threads, cancel): (u16, &Cancel),
    turn: impl Fn(&T) -> K,
    one: F,
) -> Result<Vec<Option<R>>, Error>
where
    T: Sync,
    R: Send,
    F: Fn(&T) -> Result<R, Error> + Sync + Send,
{
    let mut turns: Vec<(usize, &T)> = items.iter().enumerate().collect();
    turns.sort_by_key(|(_, item)| turn(item));
    let results = in_parallel(&turns, threads, |(_, item)| {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        match one(item) {
            Ok(result) => Ok(Some(result)),
            Err(Error::Cancelled) => Ok(None),
            Err(error) => Err(error),
        }
    })?;
    let mut placed: Vec<_> = turns.into_iter().map(|(i, _)| i).zip(results).collect();
    placed.sort_by_key(|(i, _)| *i);
    Ok(placed.into_iter().map(|(_, result)| result).collect())
}
