import type { Role } from './access.ts';
import type { Many, One } from './envelope.ts';

export type ProjectListed = {
  id: number;
  name: string;
  livemode: boolean;
  /** Of which project it is the sandbox; null: it is one of its own. */
  sandbox_of: number | null;
  /** How far its clock is ahead of real time; only that of a sandbox ever is. */
  ahead_ms: number;
  /** What whoever asks may do in it. */
  role: Role;
  /** Made up: nothing of it ever leaves this machine. */
  demo: boolean;
  suspended: boolean;
  paused: boolean;
  time_zone: string;
};

export type ProjectsApi = {
  'GET /projects': { answer: Many<ProjectListed> };
  /** `organization`: its id. Required for a caller who may create projects in several. */
  'POST /projects': {
    body: { name: string; time_zone?: string; organization?: string };
    answer: One<ProjectListed>;
  };
  /** Refuses all requests with its API keys (403) and sends nothing. Its sandbox is suspended with it. */
  'POST /projects/:project/suspend': { answer: One<ProjectListed> };
  'POST /projects/:project/unsuspend': { answer: One<ProjectListed> };
};
