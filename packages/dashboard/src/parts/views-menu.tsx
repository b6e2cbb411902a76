import { Menu, Text } from '@mantine/core';
import type { ListName, SavedView } from '@beckon/contract/dashboard';
import { Check, Pencil, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { useChange, useMay } from '../api/index.ts';
import type { MenuButton } from './later-menu.tsx';
import { LoadedMenu } from './loaded-menu.tsx';
import { Muted } from './muted.tsx';
import { refused } from './notices.tsx';
import { undoable } from './undo.tsx';
import { type CommonView, VIEWS } from './views.tsx';

type Props = MenuButton & {
  list: ListName;
  filter: string | undefined;
  onChoose: (filter: string | undefined) => void;
  common: readonly CommonView[];
  savedViews: SavedView[];
  onDialog: (dialog: 'save' | 'rename') => void;
};

/** The views of a list, and what can be done with them. */
export function ViewsMenu(props: Props): ReactNode {
  const { list, filter, onChoose, common, savedViews, onDialog, button } = props;
  const current = savedViews.find((view) => view.filter === filter);
  return (
    <LoadedMenu button={button} position="bottom-end" width={280} maxHeight="min(70vh, 480px)">
      <Items
        views={[...common.map((view) => ({ ...view, id: view.filter })), ...savedViews]}
        filter={filter}
        onChoose={onChoose}
      />
      {filter !== undefined && (
        <>
          <Menu.Divider />
          <Menu.Item onClick={() => onChoose(undefined)}>Clear filter</Menu.Item>
          <Managing list={list} current={current} onOpen={onDialog} />
        </>
      )}
    </LoadedMenu>
  );
}

type ItemsProps = {
  views: { id: string; name: string; filter: string }[];
  filter: string | undefined;
  onChoose: (filter: string) => void;
};

function Items({ views, filter, onChoose }: ItemsProps): ReactNode {
  if (views.length === 0)
    return (
      // A disabled-looking item, so that screen readers announce the empty state.
      <Menu.Item aria-disabled="true" closeMenuOnClick={false} fz="xs" c="dimmed">
        No saved views yet. Filter the list, then save the filter as a view.
      </Menu.Item>
    );
  return views.map((view) => (
    <Menu.Item
      key={view.id}
      leftSection={view.filter === filter ? <Check size={14} aria-hidden="true" /> : undefined}
      onClick={() => onChoose(view.filter)}
    >
      <Text size="sm">{view.name}</Text>
      <Muted size="xs" truncate>
        {view.filter}
      </Muted>
    </Menu.Item>
  ));
}

type ManagingProps = {
  list: ListName;
  current: SavedView | undefined;
  onOpen: (dialog: 'save' | 'rename') => void;
};

function Managing({ list, current, onOpen }: ManagingProps): ReactNode {
  const mayEdit = useMay('editor');
  const save = useChange('POST /projects/:project/views', {
    refreshes: [VIEWS],
    onRefused: (error) => refused(error),
  });
  const remove = useChange('DELETE /projects/:project/views/:view', {
    refreshes: [VIEWS],
    onRefused: (error) => refused(error),
    onDone: ({ data: { name, filter } }) => {
      undoable({
        message: `View ${name} deleted`,
        undo: () => save.mutate({ body: { screen: list, name, filter } }),
      });
    },
  });
  if (!mayEdit) return null;
  if (!current) return <Menu.Item onClick={() => onOpen('save')}>Save as view…</Menu.Item>;
  return (
    <>
      <Menu.Item leftSection={<Pencil size={14} aria-hidden="true" />} onClick={() => onOpen('rename')}>
        Rename {current.name}…
      </Menu.Item>
      <Menu.Item
        leftSection={<Trash2 size={14} aria-hidden="true" />}
        onClick={() => remove.mutate({ params: { view: current.id } })}
      >
        Delete {current.name}
      </Menu.Item>
    </>
  );
}
