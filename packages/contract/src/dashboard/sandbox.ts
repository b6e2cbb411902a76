import Type from 'typebox';
import { item } from './envelope.ts';

/** The time of a project: real time, or ahead of it in a sandbox whose clock was advanced. */
export type ProjectClock = {
  now: string;
  ahead_ms: number;
};

/** The result of an advance: the number of drafts created, and of emails sent to the sandbox's own test inbox. */
export type ClockAdvanced = {
  now: string;
  advanced_ms: number;
  drafts: number;
  emails: number;
};

export const SANDBOX_API = {
  'GET /projects/:project/clock': { response: item<ProjectClock>() },
  /** `advance`: `90m`, `7d`; at most 366 days at a time, only forward. Only in a sandbox. */
  'POST /projects/:project/clock': {
    body: Type.Object({ advance: Type.String({ maxLength: 20 }) }),
    response: item<ClockAdvanced>(),
  },
};
