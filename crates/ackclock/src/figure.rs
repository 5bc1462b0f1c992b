//! `--figure`: pictures and charts for papers.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ackclock_figure::{Figure, Format, Interval, Width};
use ackclock_net::scenario::units::Duration;
use ackclock_report::{Picture, printable};
use ackclock_run::WholeFile;
use clap::Args;

use crate::error::Error;

/// The figures of a paper.
#[derive(Clone, Debug, Args)]
pub(crate) struct FigureArgs {
    /// Draw a figure for a paper. The name of the file ends in `.pdf`, `.svg` or `.png`. With
    /// `.csv` it gets the data of the figure. Several --figure write the same figure to several
    /// files.
    #[arg(long = "figure", value_name = "FILE")]
    pub figures: Vec<PathBuf>,
    /// The width of the figure, from 40mm to 400mm. Text has 7 to 9 points at any width. Default:
    /// 84mm, a column of most proceedings.
    #[arg(long, value_name = "WIDTH", requires = "figures")]
    pub width: Option<Width>,
    /// The figure shows what happens from this time on. Default: from the start.
    #[arg(long, value_name = "TIME", requires = "figures")]
    pub from: Option<Duration>,
    /// The figure shows what happens until this time. Default: to the end.
    #[arg(long, value_name = "TIME", requires = "figures")]
    pub to: Option<Duration>,
}

impl FigureArgs {
    pub fn width(&self) -> Width {
        self.width.unwrap_or_default()
    }

    pub fn interval(&self) -> Interval {
        let seconds = |time: Duration| time.0.secs_f64();
        Interval { from: self.from.map(seconds), to: self.to.map(seconds) }
    }

    /// The option that asks for a part of the time, if one does.
    pub fn interval_option(&self) -> Option<&'static str> {
        let of = |given: bool, option| given.then_some(option);
        of(self.from.is_some(), "--from").or(of(self.to.is_some(), "--to"))
    }

    /// Whether all of this can be had.
    pub fn check(&self) -> Result<(), Error> {
        self.figures.iter().try_for_each(|path| format(path).map(drop))?;
        self.interval().check().map_err(of_interval)
    }

    /// Draws a picture.
    pub fn draw(&self, picture: &Picture<'_>) -> Result<(), Error> {
        let figure = Figure::of_picture(picture, self.width(), self.interval());
        self.write(&[figure.map_err(of_interval)?])
    }

    /// Writes these figures, and returns the first error. Of several, the others have a number in
    /// their names: `out.pdf`, `out-2.pdf`.
    pub fn write(&self, figures: &[Figure]) -> Result<(), Error> {
        let each = self.figures.iter().flat_map(|path| (1..).zip(figures).map(move |f| (path, f)));
        let written = each.map(|(path, (number, figure))| write(path, number, figure));
        // Each of them, whatever becomes of the others.
        written.fold(Ok(()), Result::and)
    }
}

fn write(path: &Path, number: u32, figure: &Figure) -> Result<(), Error> {
    let path = numbered(path, number);
    let content = figure.encode(format(&path)?);
    let content = content.map_err(|e| Error::Usage(format!("{}: {e}", path.display())))?;
    WholeFile::write(&path, content).map_err(Error::write(&path))?;
    if number > 1 {
        let _ = writeln!(io::stderr(), "note: figure {number} is {}", printable(path.display()));
    }
    Ok(())
}

fn of_interval(error: ackclock_figure::Error) -> Error {
    Error::Usage(format!("--figure: {error}"))
}

fn format(path: &Path) -> Result<Format, Error> {
    let unknown = || {
        let path = path.display();
        Error::Usage(format!("--figure: the name of {path} has to end in .pdf, .svg, .png or .csv"))
    };
    Format::of(path).ok_or_else(unknown)
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.into();
    }
    let [stem, ending] = [path.file_stem(), path.extension()]
        .map(|part| part.unwrap_or_default().to_string_lossy().into_owned());
    path.with_file_name(format!("{stem}-{number}.{ending}"))
}
