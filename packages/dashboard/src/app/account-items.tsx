import { Menu, useMantineColorScheme } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { BookOpen, Keyboard, LogOut, UserRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { useChange } from '../api/index.ts';
import { forgetKept, refused } from '../parts/index.ts';
import type { MenuButton } from '../parts/later-menu.tsx';
import { LoadedMenu } from '../parts/loaded-menu.tsx';

type Props = MenuButton & { person: { name: string; email: string }; onHelp?: (() => void) | undefined };

/** What a member can do with their account. */
export function AccountItems({ button, person, onHelp }: Props): ReactNode {
  const navigate = useNavigate();
  const signOut = useChange('POST /sign-out', {
    // The cached data belongs to the member who signed out, so the page reloads.
    onDone() {
      forgetKept('recent:');
      location.assign('/sign-in');
    },
    onRefused: (error) => refused(error),
  });
  return (
    <LoadedMenu button={button} position="bottom-end" width={248}>
      <Menu.Label>
        {person.name}
        <br />
        {person.email}
      </Menu.Label>
      <Menu.Item
        leftSection={<UserRound size={14} aria-hidden="true" />}
        onClick={() => void navigate({ to: '/profile' })}
      >
        Profile and security
      </Menu.Item>
      {onHelp && (
        <Menu.Item leftSection={<Keyboard size={14} aria-hidden="true" />} onClick={onHelp}>
          Keyboard shortcuts
        </Menu.Item>
      )}
      <Menu.Item
        component="a"
        href="/guide/"
        target="_blank"
        rel="noopener"
        leftSection={<BookOpen size={14} aria-hidden="true" />}
      >
        Guide
      </Menu.Item>
      <Menu.Divider />
      <Menu.Label>Appearance</Menu.Label>
      <SchemeSwitch />
      <Menu.Divider />
      <Menu.Item leftSection={<LogOut size={14} aria-hidden="true" />} onClick={() => signOut.mutate({})}>
        Sign out
      </Menu.Item>
    </LoadedMenu>
  );
}

const SCHEMES = [
  { value: 'auto', label: 'Auto' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

function SchemeSwitch(): ReactNode {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(value as typeof colorScheme)}>
      {SCHEMES.map(({ value, label }) => (
        <Menu.RadioItem key={value} value={value}>
          {label}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  );
}
