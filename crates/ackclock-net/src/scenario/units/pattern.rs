//! The patterns of the schema: what is read, as far as a pattern can say that. It knows nothing of
//! what is too large, nor which decimal fractions are whole numbers of bytes.

/// A number with this many decimal places that count.
pub(super) fn number(places: u32) -> String {
    format!(r"[0-9][0-9_]*(\.[0-9]{{0,{places}}}0*)?")
}

/// The same above zero.
fn positive(places: u32) -> String {
    let whole = format!(r"(0[0_]*)?[1-9][0-9_]*(\.[0-9]{{0,{places}}}0*)?");
    match places.checked_sub(1) {
        None => whole,
        Some(before) => format!(r"({whole}|0[0_]*\.[0-9]{{0,{before}}}[1-9]0*)"),
    }
}

/// A rate of 0 lets nothing pass: no key takes it.
pub(super) fn rate() -> String {
    let units = [
        (0, "[bB]"),
        (3, "[kK][bB]"),
        (6, "[mM][bB]"),
        (9, "[gG][bB]"),
        (12, "[tT][bB]"),
        (10, "[kK][iI][bB]"),
        (20, "[mM][iI][bB]"),
        (30, "[gGtT][iI][bB]"),
    ];
    let each = units.map(|(places, unit)| format!("{} ?{unit}", positive(places)));
    format!("^({})[iI][tT]$", each.join("|"))
}

/// A duration, without the ends of the text.
pub(in crate::scenario) fn time() -> String {
    let units = [(0, "[nN]"), (3, "[uU]"), (6, "[mM]"), (9, "")];
    let each = units.map(|(places, unit)| format!("{} ?{unit}", number(places)));
    format!("0|({})[sS]([eE][cC][sS]?)?", each.join("|"))
}

/// A size, without the ends of the text.
pub(super) fn size() -> String {
    format!(r"{} ?[bB]?|[0-9][0-9_]*(\.[0-9]*)? ?[kKmMgG][bB]?", number(0))
}

/// From 0 to 1, from 0 to 100 %, or with an exponent below 0.
pub(super) const PROBABILITY: &str = concat!(
    r"^(0*1(\.0*)?|0+(\.[0-9]*)?|(0*100(\.0*)?|0*[0-9]{1,2}(\.[0-9]*)?) ?%|",
    r"[0-9](\.[0-9]*)?[eE]-0*[1-9][0-9]*)$"
);
