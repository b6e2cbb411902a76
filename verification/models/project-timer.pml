/*
 * Every due time is handled. The model has the alarm of one project (`project_timer`), two enqueuers that store due times and
 * set the alarm, two workers that read it, handle a due time and set the next alarm, and, if enabled, the sweep. README.md
 * maps these to the code.
 *
 * A statement sees the commits before it began. If another process has locked a row, it waits and then sees the row's newest
 * version. A process may be killed between any two statements, and its transaction is then rolled back.
 */

#define NEVER 255
#define MOMENTS 2
/* The latest due time. The clock stops there. */
#define LAST 3

byte now = 0;

/* The committed alarm, and the process that has locked its row. */
byte next_at = NEVER;
byte row = 0;
/* The processing lock of the project. */
byte project_lock = 0;

/* The committed due times. NEVER means none. */
byte moment[MOMENTS] = NEVER;
byte stored = 0;
byte processed = 0;

#define FIRST(a, b) ((a) < (b) -> (a) : (b))
#define FIRST_MOMENT FIRST(moment[0], moment[1])

/* The alarm is never later than the first committed due time. */
#ifdef SWEEP
#define ALARM_IN_TIME true
#else
#define ALARM_IN_TIME (next_at <= FIRST_MOMENT)
#endif

#define ALL_PROCESSED (stored == MOMENTS && processed == MOMENTS)

/*
 * A transaction that stores a due time: its row, `setTimersEarlier` (lock, compare, write), the commit. It is killed at most once
 * and then repeated, as a batch of processing is.
 */
proctype enqueuer(byte me; byte at) {
  bool was_killed = false;
  byte due_at = NEVER;
  byte alarm = NEVER;
  bool has_row = false;

begin:
  /* The due time is written and not visible to others yet. */
  atomic { due_at = at; has_row = false; alarm = NEVER };
#ifdef DEFECT_SETS_ALARM_IF_SOONER
  /* A plain UPDATE with a condition: if the alarm seems early enough, no row is locked. */
  atomic {
    if
    :: next_at > at && row == 0 -> row = me; has_row = true; alarm = at
    :: next_at <= at -> skip
    fi
  };
#else
#ifndef FORGETS
  atomic { row == 0 -> row = me; has_row = true; alarm = FIRST(next_at, at) };
#endif
#endif
  if
  :: !was_killed ->
    atomic {
      was_killed = true;
      if
      :: has_row -> row = 0
      :: else -> skip
      fi
    };
    goto begin
  :: skip
  fi;
  atomic {
    moment[me - 1] = due_at;
    stored++;
    if
#ifndef DEFECT_SETS_ALARM_AFTERWARDS
    :: has_row -> next_at = alarm; row = 0
#endif
    :: else -> skip
    fi;
#ifndef FORGETS
#ifndef DEFECT_SETS_ALARM_AFTERWARDS
    assert(ALARM_IN_TIME)
#endif
#endif
  };
#ifdef DEFECT_SETS_ALARM_AFTERWARDS
  /* A separate commit: a process that is killed in between sets no alarm. */
  if
  :: atomic { row = 0; next_at = alarm }
  :: atomic { row = 0; assert(ALARM_IN_TIME) }
  fi;
#endif
  due_at = NEVER
}

/* `processTimers`, after a check: the processing lock, the due time, `lockTimer`, `nextMoment`, `setTimer`, the commit. */
proctype worker(byte me) {
  bool was_killed = false;
  byte taken = 0;
  byte alarm = NEVER;

begin:
  atomic { taken = 0; alarm = NEVER };
end_idle:
  /* The check needs no lock. A worker that finds the lock taken continues. */
  atomic { next_at <= now && project_lock == 0 -> project_lock = me };
  /* Handles the first due time only, so that another can remain. */
  atomic {
    if
    :: moment[0] <= now && moment[0] <= moment[1] -> taken = 1
    :: moment[1] <= now && moment[1] < moment[0] -> taken = 2
    :: else -> taken = 0
    fi
  };
#ifdef DEFECT_READS_BEFORE_LOCK
  atomic { alarm = FIRST((taken == 1 -> NEVER : moment[0]), (taken == 2 -> NEVER : moment[1])) };
  atomic { row == 0 -> row = me };
#else
  atomic { row == 0 -> row = me };
  /* A new statement: a process that waited for the row sees its newest version. */
  atomic { alarm = FIRST((taken == 1 -> NEVER : moment[0]), (taken == 2 -> NEVER : moment[1])) };
#endif
  if
  :: !was_killed -> atomic { was_killed = true; row = 0; project_lock = 0 }; goto begin
  :: skip
  fi;
  atomic {
    if
    :: taken > 0 -> moment[taken - 1] = NEVER; processed++
    :: else -> skip
    fi;
#ifdef DEFECT_DROPS_REMAINING_WORK
    /* Considers only what it read first. A remaining due time is forgotten. */
    next_at = NEVER;
#else
    next_at = alarm;
#endif
    row = 0;
    project_lock = 0;
#ifndef FORGETS
    assert(ALARM_IN_TIME)
#endif
  };
  goto begin
}

active proctype clock() {
end_idle:
  do
  :: now < LAST -> now++
  od
}

#ifdef SWEEP
/* `repairTimers`: a check, the lock of the row, the first due time, and `setTimersEarlier` in the same commit. */
active proctype sweep() {
  byte alarm = NEVER;
end_idle:
  do
  :: atomic { next_at > FIRST_MOMENT -> skip };
     atomic { row == 0 -> row = 200 };
     atomic { alarm = FIRST_MOMENT };
     atomic { next_at = FIRST(next_at, alarm); row = 0; alarm = NEVER }
  od
}
#endif

init {
  byte at;
  atomic {
    select (at : 1 .. LAST);
    run enqueuer(1, at);
    select (at : 1 .. LAST);
    run enqueuer(2, at);
    at = 0;
    run worker(1 + MOMENTS);
    run worker(2 + MOMENTS)
  }
}

/* Every stored due time is handled at some point. */
ltl all_processed { <> ALL_PROCESSED }
