//! The options for compressing and splitting files, which all verbs that write bags share.

use std::time::Duration;

use clap::ValueEnum;
use feros_bag::{Compression, WriterOptions};

/// The options for writing the files of a bag.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Files")]
pub(super) struct CompressionArgs {
    /// Storage to write
    #[arg(short, long, value_name = "STORAGE", default_value = "mcap")]
    storage: Storage,
    /// Bytes after which the next file begins; 0 for one file
    #[arg(short = 'b', long, value_name = "BYTES", default_value_t = 0)]
    max_bag_size: u64,
    /// Seconds of messages after which the next file begins; 0 for one file
    #[arg(short = 'd', long, value_name = "SECONDS", default_value_t = 0)]
    max_bag_duration: u64,
    /// Compress the chunks of the files
    #[arg(long, value_name = "FORMAT")]
    compression_format: Option<Format>,
    /// Accepted for command lines written for `ros2`: the chunks are compressed, and every reader
    /// of MCAP unpacks them automatically
    #[arg(long, value_name = "MODE", hide = true)]
    compression_mode: Option<Mode>,
    /// Preset for speed or size: none, fastwrite, zstd_fast or zstd_small
    #[arg(long, value_name = "PROFILE")]
    storage_preset_profile: Option<Preset>,
    /// Accepted for command lines written for `ros2`: chunks are compressed as they are written
    #[arg(long, value_name = "N", hide = true)]
    compression_queue_size: Option<u64>,
    /// Accepted for command lines written for `ros2`: one thread writes
    #[arg(long, value_name = "N", hide = true)]
    compression_threads: Option<u64>,
    /// Accepted for command lines written for `ros2`
    #[arg(long, value_name = "N", hide = true, allow_hyphen_values = true)]
    compression_threads_priority: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Storage {
    #[default]
    Mcap,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Zstd,
    Lz4,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    None,
    File,
    Message,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Preset {
    None,
    Fastwrite,
    ZstdFast,
    ZstdSmall,
}

impl CompressionArgs {
    /// The options for the writer of the bag.
    pub(super) fn writer_options(&self) -> WriterOptions {
        let mut options = WriterOptions {
            max_file_bytes: self.max_bag_size,
            max_file_duration: Duration::from_secs(self.max_bag_duration),
            ..WriterOptions::default()
        };
        let is_off = self.compression_mode == Some(Mode::None);
        options.storage.compression = match (self.compression_format, self.storage_preset_profile) {
            (Some(Format::Lz4), _) if !is_off => Compression::Lz4,
            (_, Some(Preset::ZstdSmall)) => Compression::Zstd { level: 19 },
            (_, Some(Preset::ZstdFast)) => Compression::Zstd { level: 1 },
            (Some(Format::Zstd), _) if !is_off => Compression::Zstd { level: 0 },
            _ => Compression::None,
        };
        match self.storage_preset_profile {
            Some(Preset::ZstdSmall) => options.storage.chunk_bytes = 4 << 20,
            Some(Preset::Fastwrite) => options.storage.checksums = false,
            _ => {}
        }
        if let Ok(distro) = std::env::var("ROS_DISTRO")
            && !distro.is_empty()
        {
            options.ros_distro = distro;
        }
        options
    }
}
