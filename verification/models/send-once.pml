/*
 * An email is sent at most once. The model has one draft, its one email row, two workers that claim, render, submit, hand
 * over and record, a reaper that ends lost claims, an editor who corrects content that cannot be rendered, and a person who
 * pauses the project. README.md maps these to the code.
 *
 * A step between two points at which others may run is one SQL statement, one commit, or one external effect. Workers die
 * between any two steps and restart without memory. A lease may end at any moment, as it does for a process that was
 * suspended for an hour.
 */

#ifndef WORKERS
#define WORKERS 2
#endif
/* The draft is claimed this many times at most. */
#define CLAIMS_MAX 3

mtype = { ready, held, withheld, sending, sent, failed, unknown }; /* the draft; `withheld`: held with render_failed */
mtype = { none, claimed, submitting, deferred, e_sent, e_failed, e_unknown }; /* its email */
mtype = { is_returned, is_withheld, is_sent, is_failed, is_deferred, is_unknown }; /* the result */

mtype draft = ready;
mtype email = none;
byte epoch = 0;
/* Whether rendering the content of the draft stays within its limits. */
bool renders = true;
bool lease_over = false;

/* Locks: the send lock of the project, and the row of the email. 0 is free. */
byte send_lock = 0;
byte row = 0;

bool paused = false;
/* The pause was confirmed, so nothing may be submitted. */
bool pause_answered = false;

/* How many emails the relay accepted. No process sees it. */
byte arrivals = 0;

#define IS_ENDED (email == e_sent || email == e_failed || email == e_unknown)
#ifdef DEFECT_CLAIMS_WITHHELD
#define IS_WAITING (draft == ready || draft == held || draft == withheld)
#else
#define IS_WAITING (draft == ready || draft == held)
#endif
#define IS_FREE (IS_WAITING && (email == none || email == deferred))
#define IS_BUSY (email == claimed || email == submitting)

/* An email with these states was certainly not sent. */
#define IS_SOUND (!(email == deferred || email == e_failed) || arrivals == 0)

/* These results are written only over an email that is claimed and not yet submitted. */
#define IS_BEFORE_SUBMIT(result) (result == is_returned || result == is_withheld)

/* `endEmails` and the move of the draft: one commit of `recordResults`, which waits for the lock of the row. */
inline record(claim_epoch, outcome) {
  atomic {
    row == 0;
    if
#ifdef DEFECT_NO_EPOCH
    :: IS_BUSY && (!IS_BEFORE_SUBMIT(outcome) || email == claimed) ->
#elif defined(DEFECT_RETURNS_SUBMITTED)
    :: IS_BUSY && epoch == claim_epoch ->
#else
    :: IS_BUSY && epoch == claim_epoch && (!IS_BEFORE_SUBMIT(outcome) || email == claimed) ->
#endif
      if
      :: outcome == is_returned || outcome == is_deferred -> email = deferred; draft = held
      :: outcome == is_withheld -> email = deferred; draft = withheld
      :: outcome == is_sent -> email = e_sent; draft = sent
      :: outcome == is_failed -> email = e_failed; draft = failed
      :: outcome == is_unknown -> email = e_unknown; draft = unknown
      fi
    :: else -> skip   /* Another process recorded a result first, or claimed it since. */
    fi;
    assert(IS_SOUND);
  }
}

/* `claimBatch`: one commit under the send lock. `claim_epoch`: the epoch of the claim, 0 without one. `is_whole`: its content renders. */
inline claim(me, claim_epoch, is_whole) {
  atomic { send_lock == 0 -> send_lock = me };
  atomic {
    if
    :: IS_FREE && !paused && epoch < CLAIMS_MAX ->
      assert(draft != withheld);
      epoch++;
      email = claimed;
      draft = sending;
      lease_over = false;
      claim_epoch = epoch;
      is_whole = renders;
    :: else -> claim_epoch = 0
    fi;
    send_lock = 0;
  }
}

/*
 * `markSubmitting`: the statement sees what was committed before it began (`saw_paused`), waits for the row, and then checks
 * the row again, but only the row. The commit follows.
 */
inline submit(me, claim_epoch, may_submit) {
  saw_paused = paused;
#ifdef DEFECT_WIRE_BEFORE_COMMIT
  may_submit = (email == claimed && epoch == claim_epoch && !saw_paused);
#else
  atomic {
    row == 0;
    may_submit = (email == claimed && epoch == claim_epoch && !saw_paused);
    if
    :: may_submit -> row = me
    :: else -> skip
    fi
  };
  if
  :: may_submit ->
    atomic {
      if
      :: email = submitting; lease_over = false; row = 0; assert(!pause_answered)
      :: row = 0; goto begin       /* The connection broke before the commit: the email waits for the end of its lease. */
      :: email = submitting; lease_over = false; row = 0; assert(!pause_answered); goto begin /* ... or after it. */
      fi
    }
  :: else -> skip
  fi
#endif
}

/* The SMTP session, and its result as the worker sees it. */
inline submit_to_relay(outcome) {
  atomic {
    if
    :: arrivals++; assert(arrivals <= 1); outcome = is_sent
    :: arrivals++; assert(arrivals <= 1); outcome = is_unknown      /* The answer was lost. */
    :: outcome = is_deferred
    :: outcome = is_failed
    :: outcome = is_unknown
    fi
  }
}

proctype worker(byte me) {
  byte claim_epoch = 0;
  mtype outcome = is_returned;
  bool may_submit = false;
  bool saw_paused = false;
  bool is_whole = true;

begin:
  /* A restarted worker remembers nothing. Resetting its variables keeps the number of states small. */
  atomic { claim_epoch = 0; outcome = is_returned; may_submit = false; saw_paused = false; is_whole = true };
end_idle:
  claim(me, claim_epoch, is_whole);
  if
  :: claim_epoch == 0 -> goto begin
  :: claim_epoch != 0 -> skip
  fi;
  if
  :: goto begin                    /* Killed after the claim. */
  :: skip
  fi;
  if
  :: is_whole -> submit(me, claim_epoch, may_submit)
  :: else -> outcome = is_withheld     /* `freeze`: the email is rendered before it is submitted. */
  fi;
  if
  :: may_submit ->
    if
    :: goto begin                  /* Killed before the first byte. */
    :: skip
    fi;
    submit_to_relay(outcome);
#ifdef DEFECT_WIRE_BEFORE_COMMIT
    if
    :: goto begin
    :: atomic { row == 0; if :: email == claimed && epoch == claim_epoch -> email = submitting :: else -> skip fi }
    fi;
#endif
  :: else -> skip
  fi;
  if
  :: goto begin                    /* Killed after the relay's reply. */
  :: skip
  fi;
  record(claim_epoch, outcome);
  if
  :: record(claim_epoch, outcome)            /* The result of the commit is unknown: record again. */
  :: skip
  fi;
  goto begin
}

/* Time: every lease expires at some point. */
active proctype clock() {
end_idle:
  do
  :: atomic { IS_BUSY && !lease_over -> lease_over = true }
  od
}

#ifndef DEFECT_NO_REAPER
/* `giveUp`: `listLost` reads, and `recordResults` writes later, based on that read. */
active proctype reaper() {
  byte claim_epoch = 0;
  mtype outcome = is_returned;
end_idle:
  do
  :: atomic {
       IS_BUSY && lease_over ->
       claim_epoch = epoch;
#ifdef DEFECT_RECLAIMS_SUBMITTED
       outcome = is_returned
#else
       if
       :: email == submitting -> outcome = is_unknown
       :: else -> outcome = is_returned
       fi
#endif
     };
#ifdef DEFECT_RECLAIMS_SUBMITTED
     /* Messages without a lease are sent again. */
     atomic {
       row == 0;
       if
       :: IS_BUSY && epoch == claim_epoch -> email = deferred; draft = held
       :: else -> skip
       fi;
       assert(IS_SOUND)
     };
#else
     record(claim_epoch, outcome);
#endif
     atomic { claim_epoch = 0; outcome = is_returned }
  od
}
#endif

#ifndef DEFECT_NO_CORRECTION
/*
 * `edit` and `follow`: the content of an open draft is corrected. `approve`: a member requests another render of a withheld draft.
 * Neither changes a draft that is being sent.
 */
active proctype editor() {
  bool has_approved = false;
end_idle:
  do
  :: atomic {
       (IS_WAITING || draft == withheld) && !renders ->
       renders = true;
       if
       :: draft == withheld -> draft = ready
       :: else -> skip
       fi
     }
  :: atomic { draft == withheld && !has_approved -> has_approved = true; draft = ready }
  od
}
#endif

/* `pauseProject` and `resumeProject`, once: the send lock, the setting, the epoch of claimed emails, the commit. */
active proctype person() {
  bool was_claimed = false;
  atomic { send_lock == 0 -> send_lock = 100 };
  atomic {
    row == 0;
    was_claimed = (email == claimed);
    if
    :: was_claimed -> row = 100
    :: else -> skip
    fi
  };
  atomic {
#ifndef DEFECT_PAUSE_KEEPS_EPOCH
    if
    :: was_claimed -> epoch++; row = 0
    :: else -> skip
    fi;
#else
    row = (was_claimed -> 0 : row);
#endif
    paused = true;
    send_lock = 0;
    pause_answered = true
  };
  atomic { paused = false; pause_answered = false }
}

init {
  byte i;
  atomic {
    if
    :: renders = true
    :: renders = false
    fi;
    for (i : 1 .. WORKERS) { run worker(i) }
  }
}

/* Nothing stays claimed, submitted or withheld forever, whichever processes die. */
ltl no_stuck { [] ((IS_BUSY -> <> !IS_BUSY) && (draft == withheld -> <> (draft != withheld))) }
