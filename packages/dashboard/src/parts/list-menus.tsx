import type { ListName } from '@beckon/contract/dashboard';
import type { ReactNode } from 'react';
import { DisplayMenu, type DisplayProps } from './display-menu.tsx';
import { type CommonView, Views } from './views.tsx';

export type ListMenusProps = {
  list: ListName;
  filter: string | undefined;
  onFilter: (filter: string | undefined) => void;
  common?: readonly CommonView[];
  display?: DisplayProps;
};

/** The menus above a list. Menus are a large component, so they are loaded after the list. */
export function ListMenus({ list, filter, onFilter, common, display }: ListMenusProps): ReactNode {
  return (
    <>
      <Views list={list} filter={filter} onChoose={onFilter} {...(common ? { common } : {})} />
      {display && <DisplayMenu {...display} />}
    </>
  );
}
