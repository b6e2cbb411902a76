import type { One } from './envelope.ts';

/** The time of a project: real time, or ahead of it where it is a sandbox whose clock was moved. */
export type ProjectClock = {
  now: string;
  ahead_ms: number;
};

/** What became of an advance: `drafts` were made on the way, and `letters` left, into the sandbox's own outbox. */
export type ClockAdvanced = {
  now: string;
  advanced_ms: number;
  drafts: number;
  emails: number;
};

export type SandboxApi = {
  'GET /projects/:project/clock': { answer: One<ProjectClock> };
  /** `advance`: `90m`, `7d`; at most 366 days at a time, and never back. Only in a sandbox. */
  'POST /projects/:project/clock': { body: { advance: string }; answer: One<ClockAdvanced> };
};
