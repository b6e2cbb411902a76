import type { Role } from './access.ts';
import type { ListResponse, ItemResponse } from './envelope.ts';

export type ProjectListed = {
  id: number;
  name: string;
  livemode: boolean;
  /** The project that this sandbox belongs to; null: it is not a sandbox. */
  sandbox_of: number | null;
  /** How far the clock is ahead of real time. Only the clock of a sandbox can be ahead. */
  ahead_ms: number;
  /** The caller's role in the project. */
  role: Role;
  /** Demo project: no data of it ever leaves this machine. */
  demo: boolean;
  suspended: boolean;
  paused: boolean;
  time_zone: string;
};

export type ProjectsApi = {
  'GET /projects': { response: ListResponse<ProjectListed> };
  /** `organization`: its id. Required for a caller who may create projects in several. */
  'POST /projects': {
    body: { name: string; time_zone?: string; organization?: string };
    response: ItemResponse<ProjectListed>;
  };
  /** Rejects all requests with the project's API keys (403), and sends no email. Its sandbox is suspended too. */
  'POST /projects/:project/suspend': { response: ItemResponse<ProjectListed> };
  'POST /projects/:project/unsuspend': { response: ItemResponse<ProjectListed> };
};
