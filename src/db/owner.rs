//! Whom the files beside a database belong to.

use std::path::Path;

/// Gives a file to whom another file or a folder belongs: what root makes for the service belongs to the service.
pub fn give_to_owner_of(owned: &Path, file: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, chown};
        let (owner, own) = (std::fs::metadata(owned)?, std::fs::metadata(file)?);
        if own.uid() != owner.uid() {
            chown(file, Some(owner.uid()), Some(owner.gid()))?;
        }
    }
    #[cfg(not(unix))]
    let _ = (owned, file);
    Ok(())
}
