import type { Load, Model } from './model.ts';
import type { Measured } from './run.ts';

/** Measured on two shared virtual cores. docs/explanation/scale-model.md names the source of each figure. */
export const MODEL: Model = {
  measurements: {
    acceptBusy: { beckon: 88.2, postgres: 64.4 },
    acceptFirst: { beckon: 194.7, postgres: 134.0 },
    eventAlone: { beckon: 60.5, postgres: 64.5 },
    eventShared: { beckon: 40.0, postgres: 52.0 },
    sharedBy: 4,
    eventUnread: { beckon: 177.5, postgres: 105.5 },
    housekeeping: {
      history: { beckon: 5_000, postgres: 4_625 },
      hourly: { beckon: 1_750, postgres: 3_325 },
    },
    projectBytes: 5_593,
    fiveAudiences: { beckon: 24.0, postgres: 19.0 },
    audienceChange: { beckon: 14.0, postgres: 36.0 },
    draft: { beckon: 58.0, postgres: 87.0 },
    email: { beckon: 885, postgres: 515 },
    webhook: { beckon: 152, postgres: 101 },
    eventBytes: 324,
    dedupeBytes: 133,
    idempotencyBytes: 211,
    userBytes: 1_855,
    draftBytes: 3_293,
    emailBytes: 1_528 + 4_816,
    outcomeBytes: 728,
    webhookBytes: 1_550,
    logBytes: 2_237,
    projectEventsPerSecond: 4_071,
  },
  assumptions: {
    peakOverMean: 3,
    busyShare: 0.5,
    eventsPerUserPerDay: 3,
    audienceChangesPerEvent: 0.02,
    draftsPerEvent: 0.001,
    webhooksPerEmail: 3,
    outcomesPerEmail: 2,
    retentionDays: 90,
    largestProject: 0.01,
    gatherSeconds: 0.05,
  },
  prices: {
    vcpuHour: 0.0408,
    diskGibMonth: 0.08,
    diskMibPerSecondMonth: 0.04,
    diskMibPerSecondFree: 125,
    backupGibMonth: 0.023,
    trafficGib: 0.02,
    thousandEmails: 0.1,
  },
  capacity: { databaseCores: 64, logBytesPerSecond: 500e6, diskBytes: 64 * 1024 ** 4 },
};

/** The run that the model predicted, with the inputs above. */
export const RUN: { date: string; projects: number; each: number; measured: Measured } = {
  date: '2026-11-28',
  projects: 100_000,
  each: 2,
  measured: {
    accept: { beckon: 193.0, postgres: 131.7 },
    process: { beckon: 96.8, postgres: 89.3 },
    housekeeping: {
      history: { beckon: 2800.0, postgres: 3200.0 },
      hourly: { beckon: 1650.0, postgres: 4250.0 },
    },
    storedBytes: 564e6,
    idleSeconds: 0.84,
    processedPerSecond: 1984,
    acceptedPerSecond: 765,
  },
};

export const LOADS: readonly Load[] = [1e6, 100e6, 10e9].flatMap((eventsPerDay) =>
  [1_000, 30_000, 1_000_000].map((projects) => ({ eventsPerDay, projects })),
);
