//! What a process uses, as Linux tells in `/proc`.

use std::time::Duration;

/// Ticks of a second in `/proc/PID/stat`; the same on every architecture.
const TICKS: u32 = 100;

/// The memory that is resident, in MiB.
pub fn resident_mib(pid: u32) -> Result<f64, String> {
    let status = read(pid, "status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    Ok(kib.ok_or(format!("the status of process {pid} has no VmRSS"))? / 1024.0)
}

/// How long all threads of a process have run, in its own code and in the kernel's.
pub fn cpu_time(pid: u32) -> Result<Duration, String> {
    /// The fields `utime` and `stime`, counted after the command's name.
    const USED: [usize; 2] = [11, 12];
    let stat = read(pid, "stat")?;
    // The name is in parentheses and may have any in itself.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u32>().ok();
    let ticks: Option<u32> = USED.iter().map(|at| ticks(*at)).sum();
    let ticks = ticks.ok_or(format!("the stat of process {pid} has no times"))?;
    Ok(Duration::from_secs(1) * ticks / TICKS)
}

fn read(pid: u32, file: &str) -> Result<String, String> {
    let path = format!("/proc/{pid}/{file}");
    std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_this_process() {
        let pid = std::process::id();
        assert!(resident_mib(pid).is_ok_and(|mib| mib > 0.1));
        // A tick has passed when this ends.
        while cpu_time(pid).unwrap() == Duration::ZERO {}
        assert!(cpu_time(0).is_err());
    }
}
