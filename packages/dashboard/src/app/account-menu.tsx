import { ActionIcon } from '@mantine/core';
import { CircleUserRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { useSession } from '../api/index.ts';
import { laterMenu } from '../parts/later-menu.tsx';

const AccountItems = laterMenu(async () => (await import('./account-items.tsx')).AccountItems);

export function AccountMenu({ onHelp }: { onHelp?: () => void }): ReactNode {
  const person = useSession().data?.data.member;
  if (!person) return null;
  return (
    <AccountItems
      person={person}
      onHelp={onHelp}
      button={
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Account of ${person.name}`}>
          <CircleUserRound size={20} strokeWidth={1.75} aria-hidden="true" />
        </ActionIcon>
      }
    />
  );
}
