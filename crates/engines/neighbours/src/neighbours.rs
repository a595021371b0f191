//! What a neighbourhood knows of the participants of others, as far as several threads need it.

use std::collections::HashMap;
use std::io;

use crate::Prefix;
use crate::entries::Entries;
use crate::error::JoinError;
use crate::folder::Folder;

/// A participant of another neighbourhood.
#[derive(Default)]
struct Neighbour {
    /// The name of its neighbourhood. `None` until its log has been read.
    owner: Option<u64>,
    /// How many of its announcements were handed to the user.
    through: u64,
    /// How many of them the user has processed.
    processed: u64,
    /// Its entry in the file.
    slot: Option<usize>,
    /// Whether the user needs all announcements once more.
    asks_again: bool,
    /// Whether its log cannot be read any further.
    is_malformed: bool,
}

/// The known participants of others, and the file that tells what was processed.
pub(crate) struct Neighbours {
    known: HashMap<Prefix, Neighbour>,
    entries: Entries,
}

/// Whether a participant is a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    No,
    Yes,
    /// It is one, and its log has to be read once more.
    AskedAgain,
}

/// What is known about the neighbourhood of a participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// The name of the neighbourhood.
    Owner(u64),
    /// The log of the participant has not been read yet. It may be there.
    NotYet,
    /// The log cannot be read.
    Malformed,
}

impl Neighbours {
    pub(crate) fn new(entries: Entries) -> Self {
        Self { known: HashMap::new(), entries }
    }

    /// The participants, also those whose logs have not been read yet.
    pub(crate) fn participants(&self) -> Vec<Prefix> {
        self.known.keys().copied().collect()
    }

    /// How many participants have a log that can be read.
    pub(crate) fn count(&self) -> usize {
        self.known.values().filter(|known| known.owner.is_some() && !known.is_malformed).count()
    }

    /// Whether the participant is a neighbour. `is_there` looks for its log. If the answer is yes,
    /// the user will learn when the participant ends.
    pub(crate) fn standing(
        &mut self,
        participant: Prefix,
        is_there: impl FnOnce() -> bool,
    ) -> io::Result<Standing> {
        let Some(known) = self.known.get_mut(&participant) else {
            if !is_there() {
                return Ok(Standing::No);
            }
            self.known.insert(participant, Neighbour::default());
            return Ok(Standing::Yes);
        };
        if known.is_malformed {
            return Ok(Standing::No);
        }
        let asks = self.ask_again(participant)?;
        Ok(if asks { Standing::AskedAgain } else { Standing::Yes })
    }

    /// Asks for all announcements of a known participant once more, because the user has lost them.
    /// Returns `false` if the user has not processed all of them yet.
    pub(crate) fn ask_again(&mut self, participant: Prefix) -> io::Result<bool> {
        let Some(known) = self.known.get_mut(&participant) else { return Ok(false) };
        if known.through == 0 || known.processed < known.through || known.asks_again {
            return Ok(false);
        }
        (known.asks_again, known.processed) = (true, 0);
        if let Some(slot) = known.slot {
            self.entries.put(slot, &participant, 0)?;
        }
        Ok(true)
    }

    /// Returns, once, whether the user needs all announcements once more.
    pub(crate) fn takes_request(&mut self, participant: &Prefix) -> bool {
        self.known.get_mut(participant).is_some_and(|known| std::mem::take(&mut known.asks_again))
    }

    /// The header of the participant's log was read.
    pub(crate) fn found(&mut self, participant: Prefix, owner: u64) {
        let known = self.known.entry(participant).or_default();
        (known.owner, known.is_malformed) = (Some(owner), false);
    }

    /// Announcements will be handed to the user.
    pub(crate) fn handed(&mut self, participant: &Prefix, through: u64) {
        if let Some(known) = self.known.get_mut(participant) {
            known.through = through;
        }
    }

    pub(crate) fn is_malformed(&mut self, participant: Prefix) {
        self.known.entry(participant).or_default().is_malformed = true;
    }

    /// The user has processed announcements. Tells the other neighbourhood.
    pub(crate) fn processed(&mut self, participant: &Prefix, through: u64) -> io::Result<()> {
        let Some(known) = self.known.get_mut(participant) else { return Ok(()) };
        if through <= known.processed {
            return Ok(());
        }
        known.processed = through;
        let slot = *known.slot.get_or_insert_with(|| self.entries.take_slot());
        self.entries.put(slot, participant, through)
    }

    /// The user has processed announcements up to this number, but does not know the participant,
    /// and needs all of them once more at a later look.
    pub(crate) fn lost(&mut self, participant: Prefix, through: u64) -> io::Result<()> {
        if let Some(known) = self.known.get_mut(&participant) {
            known.processed = through;
        }
        self.ask_again(participant).map(drop)
    }

    /// Whether the user needs all announcements once more.
    pub(crate) fn has_request(&self, participant: &Prefix) -> bool {
        self.known.get(participant).is_some_and(|known| known.asks_again)
    }

    /// The participant has ended. Returns `false` if it was unknown.
    pub(crate) fn ended(&mut self, participant: &Prefix) -> bool {
        let Some(ended) = self.known.remove(participant) else { return false };
        if let Some(slot) = ended.slot {
            self.entries.free_slot(slot);
        }
        true
    }

    /// The neighbourhood of a participant.
    pub(crate) fn owner(&self, participant: &Prefix) -> Known {
        match self.known.get(participant) {
            Some(known) if known.is_malformed => Known::Malformed,
            Some(Neighbour { owner: Some(owner), .. }) => Known::Owner(*owner),
            _ => Known::NotYet,
        }
    }

    /// Makes the file again if somebody has removed it.
    pub(crate) fn restore(&mut self, folder: &Folder) -> Result<(), JoinError> {
        self.entries.restore(folder)
    }
}
