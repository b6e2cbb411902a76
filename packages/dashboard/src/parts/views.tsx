import { Button } from '@mantine/core';
import type { ListName } from '@beckon/contract/dashboard';
import { Bookmark } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useApi } from '../api/index.ts';
import { later, WhenOpened } from './later.tsx';
import { laterMenu } from './later-menu.tsx';

const ViewDialog = later(() => import('./view-dialog.tsx'), 'ViewDialog', null);
const ViewsMenu = laterMenu(async () => (await import('./views-menu.tsx')).ViewsMenu);

/** A filter that every project needs. */
export type CommonView = { name: string; filter: string };

type Props = {
  list: ListName;
  filter: string | undefined;
  onChoose: (filter: string | undefined) => void;
  common?: readonly CommonView[] | undefined;
};

export const VIEWS = 'GET /projects/:project/views';

/** Saved filters of a list, shared by all members of the project. */
export function Views({ list, filter, onChoose, common = [] }: Props): ReactNode {
  const views = useApi(VIEWS, { query: { screen: list } });
  const [dialog, setDialog] = useState<'save' | 'rename' | null>(null);
  const savedViews = views.data?.data ?? [];
  const current = savedViews.find((view) => view.filter === filter);
  const name = (current ?? common.find((view) => view.filter === filter))?.name;
  return (
    <>
      <ViewsMenu
        list={list}
        filter={filter}
        onChoose={onChoose}
        common={common}
        savedViews={savedViews}
        onDialog={setDialog}
        button={
          <Button
            variant="default"
            maw={240}
            leftSection={<Bookmark size={14} aria-hidden="true" />}
            aria-label={name === undefined ? 'Views' : `Views: ${name}`}
          >
            {name ?? 'Views'}
          </Button>
        }
      />
      <WhenOpened opened={dialog !== null}>
        <ViewDialog
          list={list}
          filter={filter ?? ''}
          renamed={dialog === 'rename' ? current : undefined}
          opened={dialog !== null}
          onClose={() => setDialog(null)}
        />
      </WhenOpened>
    </>
  );
}
