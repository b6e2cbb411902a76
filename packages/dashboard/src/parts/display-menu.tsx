import { Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import type { MenuButton } from './later-menu.tsx';
import type { LookState } from './list-look.ts';
import { LoadedMenu } from './loaded-menu.tsx';
import type { Sort } from './table-head.tsx';

type Choice = { id: string; title: string; sort?: true | 'up' };
export type DisplayProps = LookState & {
  columns: readonly Choice[];
  sort?: Sort | undefined;
  onSort?: ((sort: Sort) => void) | undefined;
};

/** The columns, the density and the order of a list. The first column stays, because it opens the row. */
export function DisplayMenu(props: DisplayProps & MenuButton): ReactNode {
  const { look, setLook, columns, sort, onSort, button } = props;
  const toggle = (id: string): void => {
    const hidden = look.hidden.filter((other) => other !== id);
    setLook({ ...look, hidden: hidden.length === look.hidden.length ? [...hidden, id] : hidden });
  };
  return (
    <LoadedMenu
      button={button}
      position="bottom-end"
      closeOnItemClick={false}
      width={220}
      maxHeight="min(70vh, 480px)"
    >
      <Menu.Label>Columns</Menu.Label>
      {columns.slice(1).map(({ id, title }) => (
        <Menu.CheckboxItem key={id} checked={!look.hidden.includes(id)} onChange={() => toggle(id)}>
          {title}
        </Menu.CheckboxItem>
      ))}
      <Menu.Divider />
      <Menu.CheckboxItem
        checked={look.isCompact}
        onChange={() => setLook({ ...look, isCompact: !look.isCompact })}
      >
        Compact rows
      </Menu.CheckboxItem>
      {sort && onSort && <Order columns={columns} sort={sort} onSort={onSort} />}
    </LoadedMenu>
  );
}

type OrderProps = { columns: readonly Choice[]; sort: Sort; onSort: (sort: Sort) => void };

/** On a narrow screen the table has no heads, so this is the only way to sort. */
function Order({ columns, sort, onSort }: OrderProps): ReactNode {
  const by = columns.filter((column) => column.sort);
  return (
    <>
      <Menu.Divider />
      <Menu.Label>Sort by</Menu.Label>
      <Menu.RadioGroup value={sort.by} onChange={(id) => onSort({ ...sort, by: id })}>
        {by.map(({ id, title }) => (
          <Menu.RadioItem key={id} value={id}>
            {title}
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
      <Menu.CheckboxItem checked={sort.down} onChange={() => onSort({ ...sort, down: !sort.down })}>
        Descending
      </Menu.CheckboxItem>
    </>
  );
}
