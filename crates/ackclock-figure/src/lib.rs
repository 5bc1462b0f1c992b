//! Figures for papers: time-sequence pictures and charts as PDF, SVG and PNG, and their data as
//! CSV.
//!
//! A [`Figure`] has the width that a page gives it, and text of 7 to 9 points. What marks mean is
//! told by letters, dashes and shapes besides colours, so that it can be printed in grey. Fonts are
//! embedded: a PDF holds the letters that it uses, and in an SVG text is drawn as paths. They have
//! Latin, Greek and Cyrillic letters; `\u{fffd}` stands for any other.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use ackclock_report::{Chart, Picture};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, Tree, WriteOptions, fontdb};
use svg2pdf::{ConversionOptions, PageOptions};
use ttf_parser::Face;

/// The fonts, of which `assets/README.md` tells.
const FONTS: [&[u8]; 2] = [
    include_bytes!("../assets/DejaVuSansCondensed.ttf"),
    include_bytes!("../assets/DejaVuSansCondensed-Bold.ttf"),
];
const FAMILY: &str = "DejaVu Sans";

/// Pixels of an inch of SVG (CSS Values and Units, section 6.2), and of a PNG.
const SVG_DPI: f32 = 96.0;
const PNG_DPI: f32 = 600.0;

/// The kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// With the glyphs of the fonts that it uses.
    Pdf,
    /// With text as paths.
    Svg,
    /// Of 600 pixels to the inch.
    Png,
    /// The data alone.
    Csv,
}

impl Format {
    /// What the ending of a file's name stands for; `None` of another ending.
    pub fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "pdf" => Some(Format::Pdf),
            "svg" => Some(Format::Svg),
            "png" => Some(Format::Png),
            "csv" => Some(Format::Csv),
            _ => None,
        }
    }
}

/// The width of a figure: from 40 mm to 400 mm, as `84mm`, `8.4cm` or `3.3in`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Width(f64);

impl Width {
    const LEAST: f64 = 40.0;
    const GREATEST: f64 = 400.0;

    /// So many millimetres.
    ///
    /// # Errors
    /// [`Error::Width`] if it is not from 40 to 400.
    pub fn mm(mm: f64) -> Result<Width, Error> {
        let known = (Width::LEAST..=Width::GREATEST).contains(&mm);
        known.then_some(Width(mm)).ok_or_else(|| Error::Width(format!("{mm}mm")))
    }
}

/// A column of most proceedings with two columns.
impl Default for Width {
    fn default() -> Width {
        Width(84.0)
    }
}

impl FromStr for Width {
    type Err = Error;

    fn from_str(text: &str) -> Result<Width, Error> {
        let units = [("mm", 1.0), ("cm", 10.0), ("in", 25.4)];
        let read =
            |(unit, mm): (&str, f64)| Some(text.strip_suffix(unit)?.parse::<f64>().ok()? * mm);
        let mm = units.into_iter().find_map(read);
        mm.and_then(|mm| Width::mm(mm).ok()).ok_or_else(|| Error::Width(text.into()))
    }
}

/// The time that a figure shows, in seconds. An end that is left out is that of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// From here on.
    pub from: Option<f64>,
    /// Until then.
    pub to: Option<f64>,
}

impl Interval {
    /// Whether it may be had: it does not end before it begins.
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn check(&self) -> Result<(), Error> {
        match (self.from, self.to) {
            (Some(from), Some(to)) if to <= from => Err(Error::Empty { from, to }),
            _ => Ok(()),
        }
    }

    /// Both ends, of data between these times. `None` of an interval that leaves out both, which
    /// shows all.
    fn of(&self, times: Option<(f64, f64)>) -> Result<Option<(f64, f64)>, Error> {
        self.check()?;
        let (first, last) = times.ok_or(Error::Nothing)?;
        if self.from.is_none() && self.to.is_none() {
            return Ok(None);
        }
        let (from, to) = (self.from.unwrap_or(first), self.to.unwrap_or(last));
        if from >= last || to <= first {
            return Err(Error::Outside { from, to, first, last });
        }
        Ok(Some((from, to)))
    }
}

/// A figure, drawn and as data.
#[derive(Clone, Debug)]
pub struct Figure {
    svg: String,
    csv: String,
}

/// What keeps a figure from being made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such width.
    #[error("`{0}` is no width: it takes 40mm to 400mm, such as 84mm, 8.4cm or 3.3in")]
    Width(String),
    /// An interval that ends before it begins.
    #[error("from {from} s to {to} s is no interval: it has to begin before it ends")]
    Empty {
        /// Its beginning in seconds.
        from: f64,
        /// Its end in seconds.
        to: f64,
    },
    /// An interval beside the data.
    #[error("nothing is there from {from} s to {to} s; the data are from {first} s to {last} s")]
    Outside {
        /// Its beginning in seconds.
        from: f64,
        /// Its end in seconds.
        to: f64,
        /// When the first mark is.
        first: f64,
        /// When the last mark is.
        last: f64,
    },
    /// Not one mark.
    #[error("there is nothing to draw")]
    Nothing,
    /// The drawing is larger than its format can be.
    #[error("the figure is too large: {0}")]
    Large(String),
    /// The drawing cannot be read, which is a fault of ours.
    #[error("the drawing is broken: {0}")]
    Broken(#[from] usvg::Error),
}

impl Figure {
    /// A picture. An interval that leaves out both ends shows the window of the picture.
    ///
    /// # Errors
    /// [`Error::Nothing`], [`Error::Empty`] and [`Error::Outside`].
    pub fn of_picture(
        picture: &Picture<'_>,
        width: Width,
        interval: Interval,
    ) -> Result<Figure, Error> {
        let window = interval.of(picture.times())?.or(picture.window);
        let picture = Picture { window, ..picture.clone() };
        Ok(Figure { svg: picture.to_figure(width.0), csv: picture.to_csv() })
    }

    /// A chart.
    pub fn of_chart(chart: &Chart, width: Width) -> Figure {
        Figure { svg: chart.to_figure(width.0), csv: chart.to_csv() }
    }

    /// The content of a file of this kind.
    ///
    /// # Errors
    /// [`Error::Large`] if there are too many panels for one page.
    pub fn encode(&self, format: Format) -> Result<Vec<u8>, Error> {
        if format == Format::Csv {
            return Ok(self.csv.clone().into_bytes());
        }
        let mut fonts = fontdb::Database::new();
        FONTS.iter().for_each(|font| fonts.load_font_data(font.to_vec()));
        fonts.set_sans_serif_family(FAMILY);
        let options = usvg::Options {
            dpi: SVG_DPI,
            font_family: FAMILY.into(),
            fontdb: Arc::new(fonts),
            ..usvg::Options::default()
        };
        let tree = Tree::from_str(&with_signs(&self.svg), &options)?;
        match format {
            Format::Pdf => pdf(&tree),
            Format::Png => png(&tree),
            Format::Svg | Format::Csv => Ok(svg(&tree).into_bytes()),
        }
    }
}

/// What the fonts have no letter for would be a gap: the sign for an unknown letter shows it. Marks
/// of the drawing are ASCII, so only text changes.
fn with_signs(svg: &str) -> Cow<'_, str> {
    if svg.is_ascii() {
        return svg.into();
    }
    let faces: Vec<Face<'_>> = FONTS.iter().filter_map(|font| Face::parse(font, 0).ok()).collect();
    let is_drawn = |c: char| faces.iter().all(|face| face.glyph_index(c).is_some());
    svg.chars().map(|c| if c.is_ascii() || is_drawn(c) { c } else { '\u{fffd}' }).collect()
}

fn pdf(tree: &Tree) -> Result<Vec<u8>, Error> {
    let page = PageOptions { dpi: SVG_DPI };
    svg2pdf::to_pdf(tree, ConversionOptions::default(), page)
        .map_err(|error| Error::Large(error.to_string()))
}

fn png(tree: &Tree) -> Result<Vec<u8>, Error> {
    let scale = PNG_DPI / SVG_DPI;
    let [width, height] =
        [tree.size().width(), tree.size().height()].map(|pixels| (pixels * scale).round() as u32);
    let large = || Error::Large(format!("{width} by {height} pixels"));
    let mut pixels = Pixmap::new(width, height).ok_or_else(large)?;
    resvg::render(tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgba);
    // An inch is 25.4 mm.
    let per_metre = (PNG_DPI / 0.0254).round() as u32;
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: per_metre,
        yppu: per_metre,
        unit: png::Unit::Meter,
    }));
    let written = encoder.write_header().and_then(|mut w| w.write_image_data(&pixels.take()));
    written.map_err(|error| Error::Large(io::Error::from(error).to_string()))?;
    Ok(file)
}

/// With its size in millimetres, which usvg writes in pixels.
fn svg(tree: &Tree) -> String {
    let (width, height) = (tree.size().width(), tree.size().height());
    let text = tree.to_string(&WriteOptions::default());
    let millimetres = |pixels: f32| f64::from(pixels) / f64::from(SVG_DPI) * 25.4;
    let size = format!(
        "<svg width=\"{:.3}mm\" height=\"{:.3}mm\" viewBox=\"0 0 {width} {height}\"",
        millimetres(width),
        millimetres(height)
    );
    text.replacen(&format!("<svg width=\"{width}\" height=\"{height}\""), &size, 1)
}

/// The example of `README.md`, run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
