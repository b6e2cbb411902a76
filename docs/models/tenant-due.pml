/*
 * Whatever is due is looked at. One project's alarm (`tenant_due`), two who store moments and ring for them, two workers
 * who look, take what is due and set the alarm anew, and, where asked for, the sweep. See README.md for what stands for what.
 *
 * Statements see what was committed before they began; a row that somebody else has locked is waited for, and then seen as
 * it is. Whoever stores, or works, may be killed between any two statements: then nothing of theirs was ever there.
 */

#define NEVER 255
#define MOMENTS 2
/* Every moment lies at most here, and the clock stops behind it. */
#define LAST 3

byte now = 0;

/* The alarm, as it is committed, and who has its row. */
byte next_at = NEVER;
byte row = 0;
/* The right to digest the project. */
byte turn = 0;

/* The moments that are committed; NEVER where there is none. */
byte moment[MOMENTS] = NEVER;
byte stored = 0;
byte looked_at = 0;

#define FIRST(a, b) ((a) < (b) -> (a) : (b))
#define FIRST_MOMENT FIRST(moment[0], moment[1])

/* Of all that is committed the alarm rings no later than the first. */
#ifdef SWEEP
#define RINGS true
#else
#define RINGS (next_at <= FIRST_MOMENT)
#endif

#define ALL_LOOKED_AT (stored == MOMENTS && looked_at == MOMENTS)

/*
 * A transaction that stores a moment: the row of it, `dueEarlier` (lock, judge, write), the commit. It is killed once at
 * most, and then done again, as a batch of the digest is.
 */
proctype enqueuer(byte me; byte at) {
  bool was_killed = false;
  byte mine = NEVER;
  byte rings = NEVER;
  bool has_row = false;

begin:
  /* The moment is written; nobody else sees it yet. */
  atomic { mine = at; has_row = false; rings = NEVER };
#ifdef DEFECT_RINGS_IF_SOONER
  /* A plain UPDATE with the condition in it: where the alarm seems soon enough no row is locked. */
  atomic {
    if
    :: next_at > at && row == 0 -> row = me; has_row = true; rings = at
    :: next_at <= at -> skip
    fi
  };
#else
#ifndef FORGETS
  atomic { row == 0 -> row = me; has_row = true; rings = FIRST(next_at, at) };
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
    moment[me - 1] = mine;
    stored++;
    if
#ifndef DEFECT_RINGS_AFTERWARDS
    :: has_row -> next_at = rings; row = 0
#endif
    :: else -> skip
    fi;
#ifndef FORGETS
#ifndef DEFECT_RINGS_AFTERWARDS
    assert(RINGS)
#endif
#endif
  };
#ifdef DEFECT_RINGS_AFTERWARDS
  /* Another commit: whoever is killed in between has rung for nobody. */
  if
  :: atomic { row = 0; next_at = rings }
  :: atomic { row = 0; assert(RINGS) }
  fi;
#endif
  mine = NEVER
}

/* `digestDue`, behind a look: the turn, what is due, `holdDue`, `nextMoment`, `dueNext`, the commit. */
proctype worker(byte me) {
  bool was_killed = false;
  byte taken = 0;
  byte rings = NEVER;

begin:
  atomic { taken = 0; rings = NEVER };
end_idle:
  /* The look needs no lock; who finds the turn taken goes on. */
  atomic { next_at <= now && turn == 0 -> turn = me };
  /* The first that is due, one at a time, so that something may be left. */
  atomic {
    if
    :: moment[0] <= now && moment[0] <= moment[1] -> taken = 1
    :: moment[1] <= now && moment[1] < moment[0] -> taken = 2
    :: else -> taken = 0
    fi
  };
#ifdef DEFECT_ASKS_BEFORE_HOLDING
  atomic { rings = FIRST((taken == 1 -> NEVER : moment[0]), (taken == 2 -> NEVER : moment[1])) };
  atomic { row == 0 -> row = me };
#else
  atomic { row == 0 -> row = me };
  /* A new statement: whoever waited for the row sees what its holder wrote. */
  atomic { rings = FIRST((taken == 1 -> NEVER : moment[0]), (taken == 2 -> NEVER : moment[1])) };
#endif
  if
  :: !was_killed -> atomic { was_killed = true; row = 0; turn = 0 }; goto begin
  :: skip
  fi;
  atomic {
    if
    :: taken > 0 -> moment[taken - 1] = NEVER; looked_at++
    :: else -> skip
    fi;
#ifdef DEFECT_SLEEPS_ON
    /* Only what it saw first is asked for; what is left sleeps. */
    next_at = NEVER;
#else
    next_at = rings;
#endif
    row = 0;
    turn = 0;
#ifndef FORGETS
    assert(RINGS)
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
/* `sweepDues`: a look, then the place held, what comes first, and `dueEarlier` within the same commit. */
active proctype sweep() {
  byte rings = NEVER;
end_idle:
  do
  :: atomic { next_at > FIRST_MOMENT -> skip };
     atomic { row == 0 -> row = 200 };
     atomic { rings = FIRST_MOMENT };
     atomic { next_at = FIRST(next_at, rings); row = 0; rings = NEVER }
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

/* Whatever was stored is looked at, sooner or later. */
ltl all_looked_at { <> ALL_LOOKED_AT }
