use super::*;
use crate::connection::MSS;
use crate::report::After;

/// What is not a table scrolls as tables do, and what the cases mean is said once.
#[test]
fn a_page_says_what_a_case_is_and_fits_a_narrow_screen() {
    let swept =
        |after| Swept { after, window: 4, mss: MSS, disturbed: false, strategies: Vec::new() };
    let all = [swept(After::Data), swept(After::End)];
    let html = page(&all, &Registry::default()).unwrap();
    assert_eq!(html.matches("<pre class=\"wide\" tabindex=\"0\">completes").count(), 2);
    assert_eq!(html.matches("<code>20:2</code> its first retransmission as well").count(), 1);
}
