use super::*;

#[test]
fn only_the_answer_to_the_request_is_one() {
    assert_eq!(request(7, Change::Up(true), 9)[8..12], 9_u32.to_ne_bytes());
    let message = |kind: u16, sequence: u32, error: i32| {
        let mut bytes = 36_u32.to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 2]);
        bytes.extend(sequence.to_ne_bytes());
        bytes.extend([0; 4]);
        bytes.extend(error.to_ne_bytes());
        bytes.extend([0; 16]);
        bytes
    };
    let code = |message: &[u8]| answer(message, 9).map(|a| a.map_err(|e| e.raw_os_error()));
    let of_it = message(2, 9, 0);
    assert_eq!(code(&of_it), Some(Ok(())));
    assert_eq!(code(&of_it[..20]), Some(Ok(())));
    assert_eq!(code(&message(2, 9, -1)), Some(Err(Some(1))));
    // RTM_NEWLINK, another request's, and too short.
    for other in [&message(16, 9, 0), &message(2, 8, -1), &of_it[..19], &[]] {
        assert_eq!(code(other), None);
    }
}
