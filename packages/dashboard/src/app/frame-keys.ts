import { useNavigate } from '@tanstack/react-router';
import { useProject } from '../api/index.ts';
import { type KeyMap, useKeys } from '../parts/index.ts';
import { NAV } from './nav.ts';

/** The shortcuts of every page: `g` and a second key, the command menu, the help. */
export function useFrameKeys({ onHelp, onFind }: { onHelp: () => void; onFind: () => void }): void {
  const navigate = useNavigate();
  const params = { project: String(useProject().id) };
  const screens: KeyMap = Object.fromEntries(
    NAV.flatMap(({ items }) => items).flatMap(({ key, label, to }) =>
      key === undefined ? [] : [[`g ${key}`, { label, run: () => void navigate({ to, params }) }]],
    ),
  );
  useKeys('Go to', screens);
  useKeys('Everywhere', {
    'Mod+k': { label: 'Go to or search', run: onFind },
    '?': { label: 'Keyboard shortcuts', run: onHelp },
  });
}
