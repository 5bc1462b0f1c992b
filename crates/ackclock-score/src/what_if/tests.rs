use super::*;

#[test]
fn the_same_losses_and_no_others() {
    let text = "[tcp]\n[[link]]\nqueue = { red = {} }\nloss = [{ bernoulli = 0.1 }]\nqueued = 1\n";
    let expected = "[tcp]\n[[link]]\nqueue = { droptail = { packets = 100000 } }\nloss = [{ drop = \
                    { segments = [2], retransmissions = [\"2:1\", \"3:2\"] } }]\nqueued = 1\n";
    let dropped = [(2000, 1000, 1), (2000, 1000, 2), (3000, 1000, 3)];
    assert_eq!(listed(text, 1000, &dropped), expected);
}

/// Of four answers one says wrongly that the timeout is avoided; of the two that save, one is right
/// and one off by a quarter. Two of three intervals hold.
#[test]
fn summed_up() {
    let answer = |avoided, saved: [f64; 2]| Answer {
        seed: 1,
        strategy: "sack",
        avoided,
        saved,
        between: avoided[0].then_some([saved[0] - 0.5, saved[0] + 0.5]),
        scale: [0.5, 0.1],
    };
    let answers = [
        answer([true, true], [2.0, 2.0]),
        answer([true, true], [1.0, 0.8]),
        answer([true, false], [1.0, 0.0]),
        answer([false, false], [-1.0, 9.0]),
    ];
    let expected = "pairs 4, \"avoided\" right in 75.0 %\nerror of the time saved, of 2 that \
                    save:\n  50 % are off by at most 0.0 %\n  90 % are off by at most 25.0 %\n\
                    90 % intervals, of 3: 66.7 % hold\n  here they would reach 2.00 of what was \
                    waited below, 0.0 round trips above\n";
    assert_eq!(Summary::of(&answers).table(), expected);
}

/// Nine of ten answers about whether a timeout is avoided are right.
#[test]
fn answers_are_mostly_right() {
    let all: Vec<Answer> = (1..200).flat_map(|seed| answers(seed).unwrap()).collect();
    assert!(all.len() > 100, "{}", all.len());
    let right = all.iter().filter(|a| a.avoided[0] == a.avoided[1]).count();
    assert!(right * 10 > all.len() * 9, "{right} of {}", all.len());
    let coverage = Summary::of(&all).coverage();
    assert!((0.8..0.98).contains(&coverage), "{coverage}");
}
