import { useNavigate } from '@tanstack/react-router';
import { CirclePause, CirclePlay, FolderOpen, Keyboard, type LucideIcon } from 'lucide-react';
import { useApi, useMay, useProject } from '../api/index.ts';
import { mayOpen, nameOf } from './nav-page.ts';
import { PAGES } from './place.ts';

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
  const screens = PAGES.filter(({ page: { needs } }) => mayOpen(role, needs)).map(({ page, parent }) => {
    const { to, icon, words = '', key } = page;
    const within = parent && parent.to !== to ? parent.label : null;
    return {
      key: to,
      label: nameOf(page),
      icon,
      words: `${page.label} ${parent?.label ?? ''} ${words}`,
      beside: [within, key === undefined ? null : `g ${key}`].filter((text) => text !== null).join(' · '),
      run: () => void navigate({ to, params: { project: String(here) } }),
    };
  });
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
