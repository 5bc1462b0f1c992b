use super::*;

#[test]
fn what_a_signal_interrupts_is_called_again() {
    let mut results =
        [Err(ErrorKind::Interrupted.into()), Err(ErrorKind::Interrupted.into()), Ok(3), Ok(4)]
            .into_iter();
    assert_eq!(retry(|| results.next().unwrap()).unwrap(), 3);
    assert_eq!(results.len(), 1);
    let fails = || Err(ErrorKind::WouldBlock.into());
    assert_eq!(retry(fails).unwrap_err().kind(), ErrorKind::WouldBlock);
}
