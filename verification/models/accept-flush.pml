/*
 * A request with a 2xx response is stored exactly once. The model has two processes that accept, each with a flusher for live
 * requests and one for bulk requests; callers that retry with their Idempotency-Key after a missing response; a member who
 * revokes an API key; and processing, which removes waiting records. README.md maps these to the code.
 *
 * A step between two points at which others may run is one statement of the flush, its commit, or one response. Processes
 * die between any two steps: then uncommitted work is rolled back, and waiting callers get no response.
 */

/*
 * All of it together has more states than fit into memory, so there are four configurations: twins and a third caller in one
 * project (the default), callers of two projects (TWO_PROJECTS), bulk and live requests that compete for the remaining room
 * (QUEUE_SPACE), and an API key that is revoked (REVOKES).
 */
#ifdef REVOKES
#define CAST 2
#elif defined(TWO_PROJECTS)
#define CAST 4
#else
#define CAST 3
#endif

#define CALLERS 4
#define PROJECTS 2
#define KEYS 3
/* The twins retry once. */
#ifdef TWO_PROJECTS
#define TRIES_OF(c) 1
#else
#define TRIES_OF(c) ((c) < 2 -> 2 : 1)
#endif
/* A bulk request is accepted if fewer records wait. */
#define CAP 1

/* Callers 0 and 1 are twins: the same key and the same body. Caller 3 sends bulk requests, and with QUEUE_SPACE caller 2 does too. */
#define KEY_OF(c) ((c) < 2 -> 0 : (c) - 1)
#ifdef QUEUE_SPACE
#define IS_BULK(c) ((c) >= 2)
#else
#define IS_BULK(c) false
#endif
#ifdef TWO_PROJECTS
#define PROJECT_OF(c) ((c) >= 2 -> 1 : 0)
#define OF_0 3
#define OF_1 12
#else
#define PROJECT_OF(c) 0
#define OF_0 15
#define OF_1 0
#endif
/* The caller with the API key that is revoked. */
#define HAS_API_KEY(c) ((c) == 0)

mtype = { idle, queued, in_flight, no_answer, stored, queue_full, key_dead };
mtype response[CALLERS] = idle;
byte at[CALLERS];
byte answered = 0;

/* The database: `ingest_queue_state`, `idempotency`, `api_key`. A lock is 0 if it is free. */
byte lock[PROJECTS];
byte next_seq[PROJECTS];
byte waiting[PROJECTS];
bool stored_keys[KEYS];
bool revoked = false;

/* The actual effects. */
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
#ifdef TWO_PROJECTS
      /* Each process gets a caller of each project. */
      :: true -> at[me] = 1 + me % 2
#else
      :: !IS_BULK(me) -> at[me] = 1
#ifndef QUEUE_SPACE
      :: !IS_BULK(me) -> at[me] = 2
#endif
#endif
      fi;
      response[me] = queued
    };
    atomic { response[me] != queued && response[me] != in_flight };
    if
    :: response[me] == no_answer -> skip
    :: else -> break
    fi
  :: else -> break
  od;
  atomic { at[me] = 0; response[me] = idle; tries = 0; answered++ }
}

/* Callers of a process that died, and callers with a 503, do not know whether their request was stored. */
inline no_response(me, of_all) {
  for (c : 0 .. CALLERS - 1) {
    if
    :: HAS(batch, c) || (of_all && at[c] == me && response[c] == queued) -> response[c] = no_answer
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
  :: atomic { no_response(me, true); goto begin }
  :: skip
  fi
}

/* The API key, the room and the Idempotency-Key are each checked in one place, once. */
inline read_keys() {
  for (c : 0 .. CALLERS - 1) {
    if
    :: HAS(batch, c) && HAS_API_KEY(c) && revoked -> dead = WITH(dead, c)
    :: else -> skip
    fi
  }
}
inline read_space() {
  is_full = (me >= 3 && waiting[0] >= CAP)
}
inline read_positions() {
  seq[0] = next_seq[0];
  seq[1] = next_seq[1]
}
inline read_winners() {
  for (c : 0 .. CALLERS - 1) {
    if
    :: HAS(batch, c) && !HAS(dead, c) && !is_full && !stored_keys[KEY_OF(c)] -> won = WITH(won, c)
    :: else -> skip
    fi
  }
}

/* The COMMIT: all changes at once, and the release of the locks. */
inline commit(me) {
  for (c : 0 .. CALLERS - 1) {
    if
    :: HAS(won, c) ->
      /* Sequence order is commit order: no other commit took this number. */
      assert(seq[PROJECT_OF(c)] == next_seq[PROJECT_OF(c)]);
      assert(!IS_BULK(c) || waiting[PROJECT_OF(c)] < CAP);
      assert(!(HAS_API_KEY(c) && revoke_answered));
      next_seq[PROJECT_OF(c)] = next_seq[PROJECT_OF(c)] + 1;
      seq[PROJECT_OF(c)] = seq[PROJECT_OF(c)] + 1;
      waiting[PROJECT_OF(c)] = waiting[PROJECT_OF(c)] + 1;
      effects[KEY_OF(c)] = effects[KEY_OF(c)] + 1;
      assert(effects[KEY_OF(c)] <= 1);
#ifndef DEFECT_KEY_IN_ANOTHER_COMMIT
      stored_keys[KEY_OF(c)] = true
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

inline lock_queue(me, p, is_touched) {
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
  /* All waiting callers are in one batch, except that only the first twin is, and that bulk requests go one by one. */
  atomic {
    (at[0] == me && response[0] == queued) || (at[1] == me && response[1] == queued) || (at[2] == me && response[2] == queued) || (at[3] == me && response[3] == queued);
    for (c : 0 .. CALLERS - 1) {
      if
      :: at[c] == me && response[c] == queued && !(c == 1 && HAS(batch, 0)) && !(me >= 3 && batch != 0) ->
        batch = WITH(batch, c);
        response[c] = in_flight
      :: else -> skip
      fi
    }
    c = 0
  };
#ifdef DEFECT_KEYS_BEFORE_LOCK
  atomic { read_keys(); c = 0 };
#endif
#ifdef DEFECT_SPACE_BEFORE_LOCK
  atomic { read_space() };
#endif
#ifdef DEFECT_SEQUENCE_BEFORE_LOCK
  atomic { read_positions() };
#endif
#ifdef DEFECT_LOCKS_IN_ANY_ORDER
  if
  :: me == 2 -> lock_queue(me, 1, (batch & OF_1) > 0); lock_queue(me, 0, (batch & OF_0) > 0)
  :: else -> lock_queue(me, 0, (batch & OF_0) > 0); lock_queue(me, 1, (batch & OF_1) > 0)
  fi;
#else
  lock_queue(me, 0, (batch & OF_0) > 0);
  lock_queue(me, 1, (batch & OF_1) > 0);
#endif
  /* One statement, with a snapshot taken after the locks. */
  atomic {
#ifndef DEFECT_KEYS_BEFORE_LOCK
    read_keys();
#endif
#ifndef DEFECT_SPACE_BEFORE_LOCK
    read_space();
#endif
#ifndef DEFECT_SEQUENCE_BEFORE_LOCK
    read_positions();
#endif
    read_winners();
    c = 0
  };
#ifdef DEFECT_ANSWERS_BEFORE_COMMIT
  atomic {
    for (c : 0 .. CALLERS - 1) {
      if
      :: HAS(won, c) -> response[c] = stored; at[c] = 0
      :: else -> skip
      fi
    }
    c = 0
  };
#endif
  dies_or_not(me);
  if
  :: atomic { commit(me); c = 0 }
  /* The connection broke before or after the COMMIT: all callers get 503, and the flusher does not retry. */
  :: atomic { no_response(me, false); goto begin }
  :: atomic { commit(me); no_response(me, false); goto begin }
  fi;
#ifdef DEFECT_KEY_IN_ANOTHER_COMMIT
  dies_or_not(me);
  atomic {
    for (c : 0 .. CALLERS - 1) {
      if
      :: HAS(won, c) -> stored_keys[KEY_OF(c)] = true
      :: else -> skip
      fi
    }
    c = 0
  };
#endif
  /* The responses, one after the other. */
  do
  :: batch == 0 -> break
  :: else ->
    dies_or_not(me);
    atomic {
      c = (HAS(batch, 0) -> 0 : (HAS(batch, 1) -> 1 : (HAS(batch, 2) -> 2 : 3)));
      batch = batch - (1 << c);
      if
      :: HAS(dead, c) -> response[c] = key_dead
      :: is_full && !HAS(dead, c) -> response[c] = queue_full
      :: !is_full && !HAS(dead, c) ->
        /* Stored, or lost to a stored request with the same key, whose response is returned. */
        assert(HAS(won, c) || stored_keys[KEY_OF(c)]);
        response[c] = stored
      fi;
      at[c] = 0;
      c = 0
    }
  od;
  goto begin
}

/* A 2xx response means durable, whenever it arrives. */
#define IS_DURABLE(c) (response[c] != stored || effects[KEY_OF(c)] == 1)
active proctype watch() {
end_watch:
  atomic { !(IS_DURABLE(0) && IS_DURABLE(1) && IS_DURABLE(2) && IS_DURABLE(3)) -> assert(false) }
}

/* `revoke-key`: under the queue's lock; a flush that gets the lock later sees the revocation. */
#ifdef REVOKES
active proctype revoker() {
  atomic { lock[0] == 0 -> lock[0] = 100 };
  atomic { revoked = true; lock[0] = 0 };
  revoke_answered = true
}
#endif

#ifdef QUEUE_SPACE
/* `settleChunks`: processed records no longer wait. */
active proctype processor() {
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
#ifdef QUEUE_SPACE
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
#ifdef TWO_PROJECTS
    run caller(3)
#endif
#endif
  }
}

/* Every caller gets a response or gives up. */
ltl all_answered { <> (answered == CAST) }
