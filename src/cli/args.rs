//! The command line's grammar. Every option's help says what it does and what it takes.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "gpuport",
    version,
    about = "Port Python programs to NVIDIA GPUs, and prove each port before it touches the tree",
    after_help = "Exit status: 0 done; 1 some changes were rejected, inconclusive or unverified; 2 bad usage, configuration or pass file; 3 this machine can't verify; 130 interrupted."
)]
pub(super) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// When to colour text.
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub color: Colour,
}

/// When to colour text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show what could be ported, by which layer, and what stands in the way; runs nothing
    Scan(ScanArgs),
    /// Plan ports, verify them by running the program, and apply those that are right, on the GPU and faster
    Apply(Box<ApplyArgs>),
    /// List, show, check and test passes
    #[command(subcommand)]
    Passes(PassesCommand),
    /// Explain a reason code, or why a line was or was not ported
    Explain(ExplainArgs),
    /// Check driver, GPU, Python and libraries, and say what to install
    Doctor(DoctorArgs),
    /// Take an applied patch back
    Undo(UndoArgs),
    /// Tools for developing gpuport
    #[command(subcommand, hide = true)]
    Dev(DevCommand),
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people.
    Text,
    /// For programs: see `docs/report-schema.md`.
    Json,
    /// For code scanning: SARIF 2.1.0.
    Sarif,
}

/// Which passes are used.
#[derive(Debug, Clone, Args, Default)]
pub(super) struct PassArgs {
    /// Use only this pass: the id of a known one or a YAML file; may be repeated
    #[arg(long = "pass", value_name = "ID|FILE")]
    pub passes: Vec<String>,
}

/// `gpuport scan`.
#[derive(Debug, Args)]
pub(super) struct ScanArgs {
    /// Files and folders to look at
    #[arg(default_value = ".", value_name = "PATHS")]
    pub paths: Vec<PathBuf>,
    /// The passes.
    #[command(flatten)]
    pub passes: PassArgs,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
}

/// Whether candidates are verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Verify {
    /// Where this machine can.
    Auto,
    /// Or fail with status 3.
    Always,
    /// Not at all: the diff is marked unverified.
    Never,
}

/// `gpuport apply`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  gpuport apply main.py                     port a script; it is its own workload\n  gpuport apply main.py --dry-run > p.diff  show the verified patch, write nothing\n  gpuport apply . --dry-run --verify never  the whole unverified candidate\n  gpuport apply main.py --workload \"python main.py --n 1000\"\n  gpuport apply pkg/ --workload pkg.mod:func --inputs bench/inputs.py:make"
)]
pub(super) struct ApplyArgs {
    /// Files and folders to port
    #[arg(default_value = ".", value_name = "PATHS")]
    pub paths: Vec<PathBuf>,
    /// Write nothing: print the patch to standard output
    #[arg(long)]
    pub dry_run: bool,
    /// Whether a dry run verifies; without --dry-run every patch is verified
    #[arg(long, value_enum, default_value_t = Verify::Auto, value_name = "WHEN")]
    pub verify: Verify,
    /// The passes.
    #[command(flatten)]
    pub passes: PassArgs,
    /// What exercises the program: a command or package.module:function
    #[arg(long, value_name = "COMMAND|MODULE:FUNCTION")]
    pub workload: Option<String>,
    /// Inputs of a function workload: FILE.py:FUNCTION, called as function(seed, scale)
    #[arg(long, value_name = "FILE:FUNCTION")]
    pub inputs: Option<String>,
    /// The interpreter that has the libraries [default: the active or the project's environment, else python3]
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,
    /// Another interpreter for the original, where it can't run on the libraries of --python
    #[arg(long, value_name = "PATH")]
    pub before_python: Option<PathBuf>,
    /// Relative tolerance of float64 [default: 1e-7]
    #[arg(long, value_name = "R")]
    pub rtol: Option<f64>,
    /// Absolute tolerance [default: scale-aware]
    #[arg(long, value_name = "A")]
    pub atol: Option<f64>,
    /// The speed-up to beat [default: 1.05]
    #[arg(long, value_name = "RATIO")]
    pub min_speedup: Option<f64>,
    /// Timed runs of each side, at most [default: 5]
    #[arg(long, value_name = "N")]
    pub runs: Option<u32>,
    /// Limit of one run, as 90s, 10m or 2h [default: 30m]
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// Threads for planning [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// How to print the result; with json or sarif the patch is part of the report or left out
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Port although the tree has uncommitted changes
    #[arg(long)]
    pub allow_dirty: bool,
    /// Port although the tree is under no version control
    #[arg(long)]
    pub allow_no_vcs: bool,
}

/// `gpuport passes`.
#[derive(Debug, Subcommand)]
pub(super) enum PassesCommand {
    /// List the passes
    List,
    /// Show a pass's manual page
    Show {
        /// Its id or file.
        #[arg(value_name = "ID|FILE")]
        pass: String,
    },
    /// Check pass files
    Check {
        /// Their ids or files; all known passes where none is named.
        #[arg(value_name = "ID|FILE")]
        passes: Vec<String>,
    },
    /// Run the examples of passes
    Test {
        /// Their ids or files; all known passes where none is named.
        #[arg(value_name = "ID|FILE")]
        passes: Vec<String>,
    },
    /// Print the JSON Schema of pass files
    Schema,
}

/// `gpuport explain`.
#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// A reason code (GP204) or a place (<FILE:LINE>)
    #[arg(value_name = "CODE|FILE:LINE")]
    pub what: String,
    /// The passes.
    #[command(flatten)]
    pub passes: PassArgs,
}

/// `gpuport doctor`.
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// The interpreter that has the libraries
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// `gpuport undo`.
#[derive(Debug, Args)]
pub(super) struct UndoArgs {
    /// The run to take back [default: the last applied one]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// The project
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub root: PathBuf,
}

/// `gpuport dev`.
#[derive(Debug, Subcommand)]
pub(super) enum DevCommand {
    /// Read and parse files, and print how many and how large: what rewriting is measured against
    Parse {
        /// Files and folders.
        paths: Vec<PathBuf>,
        /// Threads.
        #[arg(long)]
        jobs: Option<usize>,
    },
}
