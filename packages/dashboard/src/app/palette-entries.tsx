import { allows } from '@beckon/contract/dashboard';
import { useNavigate } from '@tanstack/react-router';
import { CirclePause, CirclePlay, FolderOpen, Keyboard, type LucideIcon, UserRound } from 'lucide-react';
import { useApi, useMay, useProject } from '../api/index.ts';
import { quoted } from '../parts/index.ts';
import { NAV } from './nav.ts';

export type Entry = {
  key: string;
  label: string;
  icon: LucideIcon;
  /** Other names that a member may search for. */
  words?: string;
  beside?: string;
  run: () => void;
};
export type Section = { title: string; entries: Entry[] };

/** The entries whose label or other names contain each typed word. */
export function matching(sections: Section[], query: string): Section[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return sections.map(({ title, entries }) => ({
    title,
    entries: entries.filter(({ label, words: others = '' }) =>
      words.every((word) => `${label} ${others}`.toLowerCase().includes(word)),
    ),
  }));
}

export function useSections({ onPause, onHelp }: { onPause: () => void; onHelp: () => void }): Section[] {
  const navigate = useNavigate();
  const { id: here, role, paused } = useProject();
  const mayPause = useMay('admin');
  const projects = useApi('GET /projects', {});
  const screens = NAV.flatMap(({ items }) => items)
    .filter(({ needs }) => needs === undefined || allows(role, needs))
    .map(({ to, label, icon, words = '', key }) => ({
      key: to,
      label,
      icon,
      words,
      ...(key === undefined ? {} : { beside: `g ${key}` }),
      run: () => void navigate({ to, params: { project: String(here) } }),
    }));
  const pause = {
    key: 'pause',
    label: paused ? 'Resume sending' : 'Pause sending',
    icon: paused ? CirclePlay : CirclePause,
    run: onPause,
  };
  const help = {
    key: 'help',
    label: 'Keyboard shortcuts',
    words: 'shortcuts keyboard',
    icon: Keyboard,
    run: onHelp,
  };
  const others = (projects.data?.data ?? [])
    .filter(({ id }) => id !== here)
    .map(({ id, name }) => ({
      key: `project ${id}`,
      label: name,
      icon: FolderOpen,
      run: () => void navigate({ to: '/p/$project/home', params: { project: String(id) } }),
    }));
  return [
    { title: 'Screens', entries: screens },
    { title: 'Projects', entries: others },
    { title: 'Actions', entries: mayPause ? [pause, help] : [help] },
  ];
}

const USERS_MAX = 5;
const EMAILS_MIN = 2;

/** Searches by the start of the id, or of the address if the text contains an @. */
export function useUsersFound(typed: string): Entry[] {
  const navigate = useNavigate();
  const { id } = useProject();
  const isEnough = typed.length >= EMAILS_MIN;
  const filter = `${typed.includes('@') ? 'email' : 'id'}:${quoted(typed)}*`;
  const users = useApi(
    'GET /projects/:project/users',
    { query: { filter, limit: USERS_MAX } },
    { enabled: isEnough, keep: true },
  );
  if (!isEnough) return [];
  return (users.data?.data ?? []).slice(0, USERS_MAX).map(({ external_user_id: user, email }) => ({
    key: `user ${user}`,
    label: user,
    icon: UserRound,
    ...(email === null ? {} : { beside: email }),
    run: () => void navigate({ to: '/p/$project/users/$user', params: { project: String(id), user } }),
  }));
}
