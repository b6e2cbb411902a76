import Type from 'typebox';
import type { Role } from './access.ts';
import { item, list } from './envelope.ts';

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

export const PROJECTS_API = {
  'GET /projects': { response: list<ProjectListed>() },
  /** `organization`: its id. Required for a caller who may create projects in several. */
  'POST /projects': {
    body: Type.Object({
      name: Type.String(),
      time_zone: Type.Optional(Type.String()),
      organization: Type.Optional(Type.String({ maxLength: 200 })),
    }),
    response: item<ProjectListed>(),
  },
  /** Rejects all requests with the project's API keys (403), and sends no email. Its sandbox is suspended too. */
  'POST /projects/:project/suspend': { response: item<ProjectListed>() },
  'POST /projects/:project/unsuspend': { response: item<ProjectListed>() },
};
