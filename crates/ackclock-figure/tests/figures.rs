//! Figures as files.

use std::path::Path;

use ackclock_figure::{Error, Figure, Format, Interval, Width};
use ackclock_report::{Panel, Picture};
use ackclock_tcp::{Event, Registry, Sender, SenderConfig, Time};

/// What a sender does first, and a second later.
fn events() -> Vec<Event> {
    let config = SenderConfig { mss: 1000, events: true, ..SenderConfig::default() };
    let mut sender = Sender::new(config, Registry::default().parse("sack").unwrap().build());
    let mut events = Vec::new();
    for now in [Time::ZERO, Time(2_000_000_000)] {
        sender.write(now, 1000);
        while sender.poll_transmit(now).is_some() {}
        events.extend(std::iter::from_fn(|| sender.poll_event()));
    }
    events
}

fn figure(from: Option<f64>, to: Option<f64>) -> Result<Figure, Error> {
    let events = events();
    let panels = [Panel { name: "sack", mss: 1000, events: &events, ..Panel::default() }];
    let picture = Picture { title: "Größe Δt", panels: &panels, ..Picture::default() };
    Figure::of_picture(&picture, Width::default(), Interval { from, to })
}

fn file(format: Format) -> Vec<u8> {
    figure(None, None).unwrap().encode(format).unwrap()
}

#[test]
fn a_pdf_embeds_its_fonts_and_has_its_width() {
    let pdf = file(Format::Pdf);
    let text = String::from_utf8_lossy(&pdf);
    // 84 mm are 238.11 points.
    let (_, page) = text.split_once("/MediaBox [").unwrap();
    assert!(page.starts_with("0 0 238.11"), "{page:.60}");
    assert!(text.contains("/FontFile2") && text.contains("+DejaVuSansCondensed"));
    assert!(pdf.len() < 60_000, "{}", pdf.len());
}

#[test]
fn an_svg_needs_no_font() {
    let svg = String::from_utf8(file(Format::Svg)).unwrap();
    assert!(svg.starts_with("<svg width=\"84.000mm\" height=\""), "{svg:.100}");
    assert!(!svg.contains("<text") && !svg.contains("font-family"));
}

#[test]
fn a_png_knows_its_size() {
    let png = file(Format::Png);
    let decoder = png::Decoder::new(std::io::Cursor::new(png));
    let reader = decoder.read_info().unwrap();
    let info = reader.info();
    // 84 mm at 600 pixels to the inch.
    assert_eq!(info.width, 1984);
    let dims = info.pixel_dims.unwrap();
    assert_eq!((dims.xppu, dims.yppu, dims.unit), (23622, 23622, png::Unit::Meter));
}

#[test]
fn the_letters_of_names_are_drawn() {
    // The path of a letter that the font does not have is empty.
    let drawn = |name: &str| {
        let events = events();
        let panels = [Panel { name, mss: 1000, events: &events, ..Panel::default() }; 2];
        let picture = Picture { panels: &panels, ..Picture::default() };
        let figure = Figure::of_picture(&picture, Width::default(), Interval::default()).unwrap();
        figure.encode(Format::Svg).unwrap().len()
    };
    let without = drawn("");
    for letter in ["x", "ß", "Δ", "→", "Ж", "≤", "±", "é", "\u{fffd}"] {
        assert!(drawn(letter) > without + 100, "{letter}");
    }
    // What the font does not have leaves no gap.
    assert_eq!(drawn("a日é本x"), drawn("a\u{fffd}é\u{fffd}x"));
}

#[test]
fn an_interval_has_to_show_something() {
    let why = |from, to| figure(from, to).unwrap_err().to_string();
    assert_eq!(
        why(Some(4.0), Some(2.0)),
        "from 4 s to 2 s is no interval: it has to begin before it ends"
    );
    assert!(why(Some(2.0), Some(2.0)).contains("no interval"));
    assert_eq!(
        why(Some(2.5), Some(3.0)),
        "nothing is there from 2.5 s to 3 s; the data are from 0 s to 2 s"
    );
    let csv = |from, to| {
        let csv = figure(from, to).unwrap().encode(Format::Csv).unwrap();
        String::from_utf8(csv).unwrap().lines().skip(1).filter(|l| l.contains(",new,")).count()
    };
    assert_eq!(csv(None, None), 2);
    assert_eq!(csv(Some(1.0), None), 1);
    assert_eq!(csv(None, Some(1.0)), 1);
    let nothing = Figure::of_picture(&Picture::default(), Width::default(), Interval::default());
    assert!(matches!(nothing, Err(Error::Nothing)));
}

#[test]
fn widths_have_units() {
    for (text, same) in [("84mm", 84.0), ("8.4cm", 84.0), ("4in", 101.6), ("40mm", 40.0)] {
        assert_eq!(text.parse::<Width>().unwrap(), Width::mm(same).unwrap(), "{text}");
    }
    for wrong in ["84", "39.9mm", "401mm", "NaNmm", "-84mm", "mm", "", "84px", "infin"] {
        let error = wrong.parse::<Width>().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("`{wrong}` is no width: it takes 40mm to 400mm, such as 84mm, 8.4cm or 3.3in")
        );
    }
}

#[test]
fn endings() {
    let of = |name: &str| Format::of(Path::new(name));
    assert_eq!(of("a.b/c.pdf"), Some(Format::Pdf));
    assert_eq!(of("c.svg"), Some(Format::Svg));
    assert_eq!(of("c.png"), Some(Format::Png));
    assert_eq!(of("c.csv"), Some(Format::Csv));
    assert_eq!((of("pdf"), of("c.jpg"), of("c.PDF")), (None, None, None));
}
