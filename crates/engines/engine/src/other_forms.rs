//! Warnings about participants that announce themselves in another form than this process.

use crate::discovery_form::DiscoveryForm;
use crate::failure_counter::FailureCounter;
use crate::gid::Gid;
use crate::said_once::SaidOnce;

/// The target of the warnings. It is their own, so that a program that shows the forms in another
/// way can leave the warnings out.
pub const OTHER_FORMS_TARGET: &str = "feros::engine::other_forms";

/// Warns of participants whose form is not that of the session, once for each participant. Of many
/// such participants, it names only the 1st, 2nd, 4th and so on, because a robot has many nodes.
#[derive(Debug, Default)]
pub struct OtherForms {
    own: DiscoveryForm,
    known: SaidOnce,
    participants: FailureCounter,
}

impl OtherForms {
    /// Watches for participants that do not use this form.
    pub fn new(own: DiscoveryForm) -> Self {
        Self { own, ..Self::default() }
    }

    /// The form of the session.
    pub fn own(&self) -> DiscoveryForm {
        self.own
    }

    /// Logs a warning if this participant uses another form than the session, and has not been
    /// passed to this function before. `consequence` is what follows from that for this process and
    /// for the participant, as a part of a sentence.
    pub fn see(&self, participant: Gid, form: DiscoveryForm, consequence: &str) {
        if form == self.own || !self.known.is_new(&participant.to_string()) {
            return;
        }
        let Some(so_far) = self.participants.so_far() else { return };
        let cure = match form {
            DiscoveryForm::Humble => "set FEROS_ROS_DISTRO=humble for this process",
            DiscoveryForm::SinceIron => {
                "keep the nodes of Humble and those of newer distributions in different domains, \
                 or unset FEROS_ROS_DISTRO (or leave out --distro)"
            }
        };
        tracing::warn!(
            target: OTHER_FORMS_TARGET,
            "participant {participant} announces itself in the form of {form}, and this process in \
             that of {}{so_far}: {consequence}; {cure}",
            self.own
        );
    }
}
