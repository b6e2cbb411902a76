/*
 * What is answered 2xx is stored, once. Two processes that accept, each with a flusher for live requests and one for bulk
 * ones; callers that come again with their Idempotency-Key when nobody answered; somebody who revokes an API key; and the
 * digest, which takes away what waits. See README.md for what stands for what.
 *
 * A step between two points at which others may run is one statement of the flush, its commit, or one answer. Processes
 * die between any two steps: then whatever was not committed was never there, and whoever waits hears nothing.
 */

/*
 * All at once would be more states than a machine holds, so there are four casts: twins and a third caller in one project
 * (the plain one), callers of two projects (TWO_LANES), bulk and live requests for the room that is left (ROOM), and an
 * API key that is revoked (REVOKES).
 */
#ifdef REVOKES
#define CAST 2
#elif defined(TWO_LANES)
#define CAST 4
#else
#define CAST 3
#endif

#define CALLERS 4
#define PROJECTS 2
#define KEYS 3
/* The twins come again once. */
#ifdef TWO_LANES
#define TRIES_OF(c) 1
#else
#define TRIES_OF(c) ((c) < 2 -> 2 : 1)
#endif
/* A bulk request is let in where fewer wait. */
#define CAP 1

/* Callers 0 and 1 are twins: the same key and the same body. Caller 3 sends in bulk, and where it is about room 2 does too. */
#define KEY_OF(c) ((c) < 2 -> 0 : (c) - 1)
#ifdef ROOM
#define IS_BULK(c) ((c) >= 2)
#else
#define IS_BULK(c) false
#endif
#ifdef TWO_LANES
#define PROJECT_OF(c) ((c) >= 2 -> 1 : 0)
#define OF_0 3
#define OF_1 12
#else
#define PROJECT_OF(c) 0
#define OF_0 15
#define OF_1 0
#endif
/* The one that is revoked. */
#define HAS_API_KEY(c) ((c) == 0)

mtype = { idle, waiting_there, under_way, nothing_heard, stored, queue_full, key_dead };
mtype heard[CALLERS] = idle;
byte at[CALLERS];
byte done = 0;

/* The database: `lane`, `idempotency`, `api_key`. A lane's lock is 0 where it is free. */
byte lock[PROJECTS];
byte next_seq[PROJECTS];
byte waiting[PROJECTS];
bool kept[KEYS];
bool revoked = false;

/* What really happened. */
byte effects[KEYS];
bool revoke_answered = false;

#define HAS(set, c) (((set) >> (c)) & 1)
#define WITH(set, c) ((set) | (1 << (c)))

proctype caller(byte me) {
  byte tries = 0;
  do
  :: tries < TRIES_OF(me) ->
    tries++;
    atomic {
      if
      :: IS_BULK(me) -> at[me] = 3
      :: IS_BULK(me) -> at[me] = 4
#ifdef TWO_LANES
      /* Somebody of each project comes to each process. */
      :: true -> at[me] = 1 + me % 2
#else
      :: !IS_BULK(me) -> at[me] = 1
#ifndef ROOM
      :: !IS_BULK(me) -> at[me] = 2
#endif
#endif
      fi;
      heard[me] = waiting_there
    };
    atomic { heard[me] != waiting_there && heard[me] != under_way };
    if
    :: heard[me] == nothing_heard -> skip
    :: else -> break
    fi
  :: else -> break
  od;
  atomic { at[me] = 0; heard[me] = idle; tries = 0; done++ }
}

/* Whoever is here when it dies, or hears 503, has heard nothing of what became of their request. */
inline nobody_answers(me, of_all) {
  for (c : 0 .. CALLERS - 1) {
    if
    :: HAS(batch, c) || (of_all && at[c] == me && heard[c] == waiting_there) -> heard[c] = nothing_heard
    :: else -> skip
    fi
  }
  for (c : 0 .. PROJECTS - 1) {
    if
    :: lock[c] == me -> lock[c] = 0
    :: else -> skip
    fi
  }
}

inline dies_or_not(me) {
  if
  :: atomic { nobody_answers(me, true); goto begin }
  :: skip
  fi
}

/* Who has a live API key, is let in, and wins their Idempotency-Key: each is asked in one place, once. */
inline ask_keys() {
  for (c : 0 .. CALLERS - 1) {
    if
    :: HAS(batch, c) && HAS_API_KEY(c) && revoked -> dead = WITH(dead, c)
    :: else -> skip
    fi
  }
}
inline ask_room() {
  is_full = (me >= 3 && waiting[0] >= CAP)
}
inline ask_places() {
  seq[0] = next_seq[0];
  seq[1] = next_seq[1]
}
inline ask_winners() {
  for (c : 0 .. CALLERS - 1) {
    if
    :: HAS(batch, c) && !HAS(dead, c) && !is_full && !kept[KEY_OF(c)] -> won = WITH(won, c)
    :: else -> skip
    fi
  }
}

/* The COMMIT: all of it at once, and the locks with it. */
inline commit(me) {
  for (c : 0 .. CALLERS - 1) {
    if
    :: HAS(won, c) ->
      /* Sequence order is commit order: nobody was given this place meanwhile. */
      assert(seq[PROJECT_OF(c)] == next_seq[PROJECT_OF(c)]);
      assert(!IS_BULK(c) || waiting[PROJECT_OF(c)] < CAP);
      assert(!(HAS_API_KEY(c) && revoke_answered));
      next_seq[PROJECT_OF(c)] = next_seq[PROJECT_OF(c)] + 1;
      seq[PROJECT_OF(c)] = seq[PROJECT_OF(c)] + 1;
      waiting[PROJECT_OF(c)] = waiting[PROJECT_OF(c)] + 1;
      effects[KEY_OF(c)] = effects[KEY_OF(c)] + 1;
      assert(effects[KEY_OF(c)] <= 1);
#ifndef DEFECT_KEY_IN_ANOTHER_COMMIT
      kept[KEY_OF(c)] = true
#endif
    :: else -> skip
    fi
  }
  for (c : 0 .. PROJECTS - 1) {
    if
    :: lock[c] == me -> lock[c] = 0
    :: else -> skip
    fi
  }
}

inline lock_lane(me, p, is_touched) {
  if
  :: is_touched -> atomic { lock[p] == 0 -> lock[p] = me }
  :: else -> skip
  fi
}

proctype flusher(byte me) {
  byte batch = 0;
  byte won = 0;
  byte dead = 0;
  bool is_full = false;
  byte seq[PROJECTS];
  byte c = 0;

begin:
  atomic { batch = 0; won = 0; dead = 0; is_full = false; seq[0] = 0; seq[1] = 0; c = 0 };
end_idle:
  /* Everybody who waits here leaves together, but of twins only the first, and bulk requests one by one. */
  atomic {
    (at[0] == me && heard[0] == waiting_there) || (at[1] == me && heard[1] == waiting_there) || (at[2] == me && heard[2] == waiting_there) || (at[3] == me && heard[3] == waiting_there);
    for (c : 0 .. CALLERS - 1) {
      if
      :: at[c] == me && heard[c] == waiting_there && !(c == 1 && HAS(batch, 0)) && !(me >= 3 && batch != 0) ->
        batch = WITH(batch, c);
        heard[c] = under_way
      :: else -> skip
      fi
    }
    c = 0
  };
#ifdef DEFECT_KEYS_BEFORE_LOCK
  atomic { ask_keys(); c = 0 };
#endif
#ifdef DEFECT_ROOM_BEFORE_LOCK
  atomic { ask_room() };
#endif
#ifdef DEFECT_PLACES_BEFORE_LOCK
  atomic { ask_places() };
#endif
#ifdef DEFECT_LOCKS_IN_ANY_ORDER
  if
  :: me == 2 -> lock_lane(me, 1, (batch & OF_1) > 0); lock_lane(me, 0, (batch & OF_0) > 0)
  :: else -> lock_lane(me, 0, (batch & OF_0) > 0); lock_lane(me, 1, (batch & OF_1) > 0)
  fi;
#else
  lock_lane(me, 0, (batch & OF_0) > 0);
  lock_lane(me, 1, (batch & OF_1) > 0);
#endif
  /* One statement, with a snapshot taken behind the locks. */
  atomic {
#ifndef DEFECT_KEYS_BEFORE_LOCK
    ask_keys();
#endif
#ifndef DEFECT_ROOM_BEFORE_LOCK
    ask_room();
#endif
#ifndef DEFECT_PLACES_BEFORE_LOCK
    ask_places();
#endif
    ask_winners();
    c = 0
  };
#ifdef DEFECT_ANSWERS_BEFORE_COMMIT
  atomic {
    for (c : 0 .. CALLERS - 1) {
      if
      :: HAS(won, c) -> heard[c] = stored; at[c] = 0
      :: else -> skip
      fi
    }
    c = 0
  };
#endif
  dies_or_not(me);
  if
  :: atomic { commit(me); c = 0 }
  /* The connection broke at the COMMIT, before it or behind it: 503 to all, and nobody here does it again. */
  :: atomic { nobody_answers(me, false); goto begin }
  :: atomic { commit(me); nobody_answers(me, false); goto begin }
  fi;
#ifdef DEFECT_KEY_IN_ANOTHER_COMMIT
  dies_or_not(me);
  atomic {
    for (c : 0 .. CALLERS - 1) {
      if
      :: HAS(won, c) -> kept[KEY_OF(c)] = true
      :: else -> skip
      fi
    }
    c = 0
  };
#endif
  /* The answers, one after the other. */
  do
  :: batch == 0 -> break
  :: else ->
    dies_or_not(me);
    atomic {
      c = (HAS(batch, 0) -> 0 : (HAS(batch, 1) -> 1 : (HAS(batch, 2) -> 2 : 3)));
      batch = batch - (1 << c);
      if
      :: HAS(dead, c) -> heard[c] = key_dead
      :: is_full && !HAS(dead, c) -> heard[c] = queue_full
      :: !is_full && !HAS(dead, c) ->
        /* Stored, or lost to one that is: what was answered then is found. */
        assert(HAS(won, c) || kept[KEY_OF(c)]);
        heard[c] = stored
      fi;
      at[c] = 0;
      c = 0
    }
  od;
  goto begin
}

/* 2xx means durable, whenever it is heard. */
#define IS_DURABLE(c) (heard[c] != stored || effects[KEY_OF(c)] == 1)
active proctype watch() {
end_watch:
  atomic { !(IS_DURABLE(0) && IS_DURABLE(1) && IS_DURABLE(2) && IS_DURABLE(3)) -> assert(false) }
}

/* `revoke-key`: under the lane's lock; what was answered is seen by every flush that comes to the lock behind it. */
#ifdef REVOKES
active proctype revoker() {
  atomic { lock[0] == 0 -> lock[0] = 100 };
  atomic { revoked = true; lock[0] = 0 };
  revoke_answered = true
}
#endif

#ifdef ROOM
/* `settleChunks`: what was digested waits no longer. */
active proctype digest() {
end_idle:
  do
  :: atomic { lock[0] == 0 && waiting[0] > 0 -> waiting[0]-- }
  od
}
#endif

init {
  atomic {
    run flusher(1);
    run caller(0);
#ifdef ROOM
    run flusher(3);
    run flusher(4);
    run caller(2);
    run caller(3)
#else
    run flusher(2);
    run caller(1);
#ifndef REVOKES
    run caller(2);
#endif
#ifdef TWO_LANES
    run caller(3)
#endif
#endif
  }
}

/* Everybody hears something, or gives up by themselves. */
ltl all_answered { <> (done == CAST) }
