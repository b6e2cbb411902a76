/*
 * An email is sent at most once. The model has one draft, its one message row, two workers that claim, render, submit, hand
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
mtype = { none, claimed, submitting, deferred, m_sent, m_failed, m_unknown }; /* its message */
mtype = { is_returned, is_withheld, is_sent, is_failed, is_deferred, is_unknown }; /* the result */

mtype draft = ready;
mtype message = none;
byte epoch = 0;
/* Whether rendering the content of the draft stays within its limits. */
bool renders = true;
bool lease_over = false;

/* Locks: the send turn of the project, and the row of the message. 0 is free. */
byte turn = 0;
byte row = 0;

bool paused = false;
/* The pause was confirmed, so nothing may be submitted. */
bool pause_answered = false;

/* How many emails the relay accepted. No process sees it. */
byte taken = 0;

#define IS_ENDED (message == m_sent || message == m_failed || message == m_unknown)
#ifdef DEFECT_CLAIMS_WITHHELD
#define IS_WAITING (draft == ready || draft == held || draft == withheld)
#else
#define IS_WAITING (draft == ready || draft == held)
#endif
#define IS_FREE (IS_WAITING && (message == none || message == deferred))
#define IS_BUSY (message == claimed || message == submitting)

/* A message with these states was certainly not sent. */
#define IS_SOUND (!(message == deferred || message == m_failed) || taken == 0)

/* These results are written only over a message that is claimed and not yet submitted. */
#define IS_BEFORE_SUBMIT(result) (result == is_returned || result == is_withheld)

/* `endEmails` and the move of the draft: one commit of `recordResults`, which waits for the lock of the row. */
inline record(mine, said) {
  atomic {
    row == 0;
    if
#ifdef DEFECT_NO_EPOCH
    :: IS_BUSY && (!IS_BEFORE_SUBMIT(said) || message == claimed) ->
#elif defined(DEFECT_PUTS_BACK_SUBMITTED)
    :: IS_BUSY && epoch == mine ->
#else
    :: IS_BUSY && epoch == mine && (!IS_BEFORE_SUBMIT(said) || message == claimed) ->
#endif
      if
      :: said == is_returned || said == is_deferred -> message = deferred; draft = held
      :: said == is_withheld -> message = deferred; draft = withheld
      :: said == is_sent -> message = m_sent; draft = sent
      :: said == is_failed -> message = m_failed; draft = failed
      :: said == is_unknown -> message = m_unknown; draft = unknown
      fi
    :: else -> skip   /* Another process recorded a result first, or claimed it since. */
    fi;
    assert(IS_SOUND);
  }
}

/* `claimBatch`: one commit under the send lock. `mine`: the epoch of the claim, 0 without one. `is_whole`: its content renders. */
inline claim(me, mine, is_whole) {
  atomic { turn == 0 -> turn = me };
  atomic {
    if
    :: IS_FREE && !paused && epoch < CLAIMS_MAX ->
      assert(draft != withheld);
      epoch++;
      message = claimed;
      draft = sending;
      lease_over = false;
      mine = epoch;
      is_whole = renders;
    :: else -> mine = 0
    fi;
    turn = 0;
  }
}

/*
 * `markSubmitting`: the statement sees what was committed before it began (`saw_paused`), waits for the row, and then checks
 * the row again, but only the row. The commit follows.
 */
inline submit(me, mine, may_go) {
  saw_paused = paused;
#ifdef DEFECT_WIRE_BEFORE_COMMIT
  may_go = (message == claimed && epoch == mine && !saw_paused);
#else
  atomic {
    row == 0;
    may_go = (message == claimed && epoch == mine && !saw_paused);
    if
    :: may_go -> row = me
    :: else -> skip
    fi
  };
  if
  :: may_go ->
    atomic {
      if
      :: message = submitting; lease_over = false; row = 0; assert(!pause_answered)
      :: row = 0; goto begin       /* The connection broke before the commit: the email waits for the end of its lease. */
      :: message = submitting; lease_over = false; row = 0; assert(!pause_answered); goto begin /* ... or after it. */
      fi
    }
  :: else -> skip
  fi
#endif
}

/* The SMTP session, and its result as the worker sees it. */
inline hand_over(said) {
  atomic {
    if
    :: taken++; assert(taken <= 1); said = is_sent
    :: taken++; assert(taken <= 1); said = is_unknown      /* The answer was lost. */
    :: said = is_deferred
    :: said = is_failed
    :: said = is_unknown
    fi
  }
}

proctype worker(byte me) {
  byte mine = 0;
  mtype said = is_returned;
  bool may_go = false;
  bool saw_paused = false;
  bool is_whole = true;

begin:
  /* A restarted worker remembers nothing. Resetting its variables keeps the number of states small. */
  atomic { mine = 0; said = is_returned; may_go = false; saw_paused = false; is_whole = true };
end_idle:
  claim(me, mine, is_whole);
  if
  :: mine == 0 -> goto begin
  :: mine != 0 -> skip
  fi;
  if
  :: goto begin                    /* Killed after the claim. */
  :: skip
  fi;
  if
  :: is_whole -> submit(me, mine, may_go)
  :: else -> said = is_withheld     /* `freeze`: the email is rendered before it is submitted. */
  fi;
  if
  :: may_go ->
    if
    :: goto begin                  /* Killed before the first byte. */
    :: skip
    fi;
    hand_over(said);
#ifdef DEFECT_WIRE_BEFORE_COMMIT
    if
    :: goto begin
    :: atomic { row == 0; if :: message == claimed && epoch == mine -> message = submitting :: else -> skip fi }
    fi;
#endif
  :: else -> skip
  fi;
  if
  :: goto begin                    /* Killed after the relay's reply. */
  :: skip
  fi;
  record(mine, said);
  if
  :: record(mine, said)            /* The result of the commit is unknown: record again. */
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
  byte mine = 0;
  mtype said = is_returned;
end_idle:
  do
  :: atomic {
       IS_BUSY && lease_over ->
       mine = epoch;
#ifdef DEFECT_RECLAIMS_SUBMITTED
       said = is_returned
#else
       if
       :: message == submitting -> said = is_unknown
       :: else -> said = is_returned
       fi
#endif
     };
#ifdef DEFECT_RECLAIMS_SUBMITTED
     /* Messages without a lease are sent again. */
     atomic {
       row == 0;
       if
       :: IS_BUSY && epoch == mine -> message = deferred; draft = held
       :: else -> skip
       fi;
       assert(IS_SOUND)
     };
#else
     record(mine, said);
#endif
     atomic { mine = 0; said = is_returned }
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

/* `pauseProject` and `resumeProject`, once: the send lock, the setting, the epoch of claimed messages, the commit. */
active proctype person() {
  bool was_claimed = false;
  atomic { turn == 0 -> turn = 100 };
  atomic {
    row == 0;
    was_claimed = (message == claimed);
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
    turn = 0;
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
