import { useNavigate } from '@tanstack/react-router';
import { useProject } from '../api/index.ts';
import { type KeyMap, useKeys } from '../parts/index.ts';
import { SETTINGS_ENTRY } from './nav.ts';
import { mayOpen, nameOf } from './nav-page.ts';
import { PAGES } from './place.ts';

/** The shortcuts of every page: `g` and a second key, the command menu, the help. */
export function useFrameKeys({ onHelp, onFind }: { onHelp: () => void; onFind: () => void }): void {
  const navigate = useNavigate();
  const { id, role } = useProject();
  const params = { project: String(id) };
  const screens: KeyMap = Object.fromEntries(
    [...PAGES.map(({ page }) => page), SETTINGS_ENTRY]
      .filter(({ key, needs }) => key !== undefined && mayOpen(role, needs))
      .map((page) => [
        `g ${page.key}`,
        { label: nameOf(page), run: () => void navigate({ to: page.to, params }) },
      ]),
  );
  useKeys('Go to', screens);
  useKeys('Everywhere', {
    'Mod+k': { label: 'Go to or search', run: onFind },
    '?': { label: 'Keyboard shortcuts', run: onHelp },
  });
}
