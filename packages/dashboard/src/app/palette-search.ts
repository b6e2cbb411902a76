import type { Found, FoundKind } from '@beckon/contract/dashboard';
import { type NavigateOptions, useNavigate } from '@tanstack/react-router';
import {
  Activity,
  FileText,
  type LucideIcon,
  MailCheck,
  UserRound,
  UsersRound,
  Webhook,
  Workflow,
} from 'lucide-react';
import { type ApiError, useApi, useProject, useSession } from '../api/index.ts';
import { useKept } from '../parts/index.ts';
import type { Entry, Section } from './palette-entries.tsx';

const TYPED_MIN = 2;
const RECENT_MAX = 5;

/** `isPending`: the results are not those of the typed text yet. */
export type SearchState = {
  sections: Section[];
  isPending: boolean;
  isPartial: boolean;
  error: ApiError | null;
  retry: () => void;
};

/** Searches the project on the server, and lists what was opened last while nothing is typed. */
export function useSearchState(typed: string, debounced: string): SearchState {
  const { data, error, isLoading, isPlaceholderData, refetch } = useApi(
    'GET /projects/:project/search',
    { query: { text: debounced } },
    { enabled: debounced.length >= TYPED_MIN, keep: true },
  );
  const { toEntry, recent } = useFoundEntries();
  const none = { isPending: false, isPartial: false, error: null, retry: () => void refetch() };
  if (typed === '') return { ...none, sections: [{ title: 'Recent', entries: recent }] };
  if (typed.length < TYPED_MIN) return { ...none, sections: [] };
  const isPending = typed !== debounced || isPlaceholderData || isLoading;
  if (!data || error) return { ...none, sections: [], isPending, error };
  const { found, partial } = data.data;
  const sections = KINDS.map((kind) => ({
    title: PAGES[kind].title,
    entries: found.filter((match) => match.kind === kind).map(toEntry),
  }));
  return { ...none, sections, isPending, isPartial: partial };
}

/** Opened matches name users, so they are kept only for this tab and this member, and deleted on sign-out. */
function useFoundEntries(): { toEntry: (found: Found) => Entry; recent: Entry[] } {
  const navigate = useNavigate();
  const project = String(useProject().id);
  const member = useSession().data?.data.member?.id ?? '';
  const [recent, keep] = useKept<Found[]>(`recent:${member}:${project}`, []);
  const toEntry = (found: Found): Entry => ({
    key: `${found.kind} ${found.id}`,
    label: found.label,
    icon: PAGES[found.kind].icon,
    ...(found.detail === null ? {} : { beside: found.detail }),
    run() {
      const others = recent.filter(({ kind, id }) => kind !== found.kind || id !== found.id);
      keep([found, ...others].slice(0, RECENT_MAX));
      void navigate(PAGES[found.kind].to(project, found.id));
    },
  });
  return { toEntry, recent: recent.map(toEntry) };
}

type FoundPage = { title: string; icon: LucideIcon; to: (project: string, id: string) => NavigateOptions };

const PAGES: Record<FoundKind, FoundPage> = {
  user: {
    title: 'Users',
    icon: UserRound,
    to: (project, user) => ({ to: '/p/$project/users/$user', params: { project, user } }),
  },
  rule: {
    title: 'Rules',
    icon: Workflow,
    to: (project, rule) => ({ to: '/p/$project/rules/$rule', params: { project, rule } }),
  },
  email: {
    title: 'Emails',
    icon: MailCheck,
    to: (project, draft) => ({ to: '/p/$project/drafts/$draft', params: { project, draft } }),
  },
  audience: {
    title: 'Audiences',
    icon: UsersRound,
    to: (project, audience) => ({ to: '/p/$project/audiences/$audience', params: { project, audience } }),
  },
  template: {
    title: 'Templates',
    icon: FileText,
    to: (project, template) => ({ to: '/p/$project/templates/$template', params: { project, template } }),
  },
  event: {
    title: 'Events',
    icon: Activity,
    to: (project, event) => ({ to: '/p/$project/events', params: { project }, search: { event } }),
  },
  webhook: {
    title: 'Webhook endpoints',
    icon: Webhook,
    to: (project, endpoint) => ({ to: '/p/$project/webhooks/$endpoint', params: { project, endpoint } }),
  },
};
const KINDS = Object.keys(PAGES) as FoundKind[];
