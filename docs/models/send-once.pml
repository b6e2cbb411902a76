/*
 * A letter leaves once. One draft, its one message row, two workers that claim, submit, hand over and record, one that
 * gives up what was lost, and somebody who pauses the project. See README.md for what stands for what.
 *
 * A step between two points at which others may run is one SQL statement, one commit, or one effect outside. Workers die
 * between any two steps and begin anew, knowing nothing; a lease may be over at any moment, which is also what a process
 * that stood still for an hour looks like.
 */

#ifndef WORKERS
#define WORKERS 2
#endif
/* So many claims of the draft at most; behind that nobody claims it again. */
#define CLAIMS_MAX 3

mtype = { ready, held, sending, sent, failed, unknown };          /* the draft */
mtype = { none, claimed, submitting, deferred, m_sent, m_failed, m_unknown }; /* its message */
mtype = { put_back, is_sent, is_failed, is_deferred, is_unknown };  /* what is said of it */

mtype draft = ready;
mtype message = none;
byte epoch = 0;
bool lease_over = false;

/* Locks: the send turn of the project, and the row of the message. 0 is free. */
byte turn = 0;
byte row = 0;

bool paused = false;
/* Whoever paused has heard that nothing leaves any more. */
bool pause_answered = false;

/* How many letters the relay took: what really happened, which no process sees. */
byte taken = 0;

#define IS_ENDED (message == m_sent || message == m_failed || message == m_unknown)
#define IS_FREE ((draft == ready || draft == held) && (message == none || message == deferred))
#define IS_BUSY (message == claimed || message == submitting)

/* Said of a message, it certainly did not leave. */
#define IS_SOUND (!(message == deferred || message == m_failed) || taken == 0)

/*
 * `endMessages` and the move of the draft, one commit of `recordResults`. It waits for whoever holds the row. What is put
 * back was claimed and no more: see README.md.
 */
inline record(mine, said) {
  atomic {
    row == 0;
    if
#ifdef DEFECT_NO_EPOCH
    :: IS_BUSY && (said != put_back || message == claimed) ->
#elif defined(DEFECT_PUTS_BACK_SUBMITTED)
    :: IS_BUSY && epoch == mine ->
#else
    :: IS_BUSY && epoch == mine && (said != put_back || message == claimed) ->
#endif
      if
      :: said == put_back || said == is_deferred -> message = deferred; draft = held
      :: said == is_sent -> message = m_sent; draft = sent
      :: said == is_failed -> message = m_failed; draft = failed
      :: said == is_unknown -> message = m_unknown; draft = unknown
      fi
    :: else -> skip   /* Somebody was faster, or it is somebody else's by now. */
    fi;
    assert(IS_SOUND);
  }
}

/* `claimBatch`: under the send turn, one commit. `mine`: by which epoch, 0 where nothing was claimed. */
inline claim(me, mine) {
  atomic { turn == 0 -> turn = me };
  atomic {
    if
    :: IS_FREE && !paused && epoch < CLAIMS_MAX ->
      epoch++;
      message = claimed;
      draft = sending;
      lease_over = false;
      mine = epoch;
    :: else -> mine = 0
    fi;
    turn = 0;
  }
}

/*
 * `submitMessages`: the statement sees what was committed before it began (`saw_paused`), waits for the row, and then judges
 * the row anew, but only the row. The commit comes behind it.
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
      :: row = 0; goto begin       /* The connection broke before the commit: the letter is left to its lease. */
      :: message = submitting; lease_over = false; row = 0; assert(!pause_answered); goto begin /* ... or behind it. */
      fi
    }
  :: else -> skip
  fi
#endif
}

/* The conversation with the relay, and what the worker hears of it. */
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
  mtype said = put_back;
  bool may_go = false;
  bool saw_paused = false;

begin:
  /* Whoever begins anew knows nothing of what it was; what stays the same in every state is no state of its own. */
  atomic { mine = 0; said = put_back; may_go = false; saw_paused = false };
end_idle:
  claim(me, mine);
  if
  :: mine == 0 -> goto begin
  :: mine != 0 -> skip
  fi;
  if
  :: goto begin                    /* Killed with a letter in hand. */
  :: skip
  fi;
  submit(me, mine, may_go);
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
  :: else -> said = put_back
  fi;
  if
  :: goto begin                    /* Killed with the answer in hand. */
  :: skip
  fi;
  record(mine, said);
  if
  :: record(mine, said)            /* The commit was not heard of: once more. */
  :: skip
  fi;
  goto begin
}

/* Time: a lease runs out sooner or later. */
active proctype clock() {
end_idle:
  do
  :: atomic { IS_BUSY && !lease_over -> lease_over = true }
  od
}

#ifndef DEFECT_NOBODY_GIVES_UP
/* `giveUp`: `listLost` reads, and `recordResults` writes later, by what was read. */
active proctype reaper() {
  byte mine = 0;
  mtype said = put_back;
end_idle:
  do
  :: atomic {
       IS_BUSY && lease_over ->
       mine = epoch;
#ifdef DEFECT_RECLAIMS_SUBMITTED
       said = put_back
#else
       if
       :: message == submitting -> said = is_unknown
       :: else -> said = put_back
       fi
#endif
     };
#ifdef DEFECT_RECLAIMS_SUBMITTED
     /* Whatever has no lease any more goes again. */
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
     atomic { mine = 0; said = put_back }
  od
}
#endif

/* `pauseProject` and `resumeProject`, once: the turn, the setting, the epoch of what is claimed, the commit. */
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
    for (i : 1 .. WORKERS) { run worker(i) }
  }
}

/* Nothing stays claimed or submitted for ever, whoever dies. */
ltl no_stuck { [] (IS_BUSY -> <> !IS_BUSY) }
