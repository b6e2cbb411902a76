import type { Log } from '../base/log.ts';
import { type EditionPlace, listBuilding } from '../features/audiences/index.ts';
import type { BuildStep, Digest } from '../flows/digest/index.ts';
import type { Database } from '../io/db/index.ts';
import { createTroubles } from './troubles.ts';

/** Finds the members of new definitions, step by step beside the digest, every project in its turn. */
export type Builder = { stop(): Promise<void> };

const LOOK_EVERY_MS = 1_000;
/** Between two steps whoever waits for the project's turn gets it. */
const BETWEEN_STEPS_MS = 5;
const BUSY_MS = 50;
const EDITIONS_MAX = 100;

export function startBuilder({ db, digest, log }: { db: Database; digest: Digest; log: Log }): Builder {
  const pause = createPause();
  const troubles = createTroubles();
  let after: EditionPlace | null = null;
  let stopping = false;

  async function run(): Promise<void> {
    while (!stopping) await pause.of(await round());
  }

  async function round(): Promise<number> {
    try {
      const places = await listBuilding(db, EDITIONS_MAX, after);
      after = places.length < EDITIONS_MAX ? null : (places.at(-1) ?? null);
      if (places.length === 0) return LOOK_EVERY_MS;
      return (await stepEach(places)) ? BETWEEN_STEPS_MS : BUSY_MS;
    } catch (error) {
      log.warn({ err: error }, 'build.failed');
      return LOOK_EVERY_MS;
    }
  }

  async function stepEach(places: EditionPlace[]): Promise<boolean> {
    let wentOn = false;
    for (const place of places) {
      if (stopping) return wentOn;
      if (!troubles.isOpen(place.projectId, db.clock.now())) continue;
      const step = await tried(place);
      if (step === 'served') log.info({ ...place }, 'audience.built');
      if (step === 'served' || step === 'went on') wentOn = true;
    }
    return wentOn;
  }

  /** What is wrong with one definition is no trouble to the others. */
  async function tried(place: EditionPlace): Promise<BuildStep | null> {
    try {
      const step = await digest.build(place);
      troubles.passed([place.projectId]);
      return step;
    } catch (error) {
      const inMs = troubles.failed([place.projectId], db.clock.now());
      log.warn({ ...place, inMs, err: error }, 'build.failed');
      return null;
    }
  }

  const running = run();
  return {
    async stop() {
      stopping = true;
      pause.end();
      await running;
    },
  };
}

type Pause = { of(ms: number): Promise<void>; end(): void };

function createPause(): Pause {
  const ended = Promise.withResolvers<void>();
  return {
    async of(ms) {
      let timer: NodeJS.Timeout | undefined;
      const over = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms);
      });
      await Promise.race([over, ended.promise]);
      clearTimeout(timer);
    },
    end: () => ended.resolve(),
  };
}
