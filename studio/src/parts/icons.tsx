// One set of icons, drawn on 24 by 24 with lines of one weight.
const paths = {
  start: 'M4 11.5 12 5l8 6.5M6.5 10v9h11v-9M10.5 19v-5h3v5',
  memories: 'M5 5h14v5H5zM5 14h14v5H5zM8 7.5h4M8 16.5h6',
  try: 'M5 6h14v9H11l-4 4v-4H5zM9 10.5h6',
  receipts: 'M6 4h12v16l-2.4-1.6L13.2 20 12 19l-1.2 1-2.4-1.6L6 20zM9 9h6M9 13h4',
  sessions: 'M4 6h11v8H9l-3 3v-3H4zM15 9h5v8h-2v3l-3-3h-4',
  timeline: 'M4 19h16M6 16l4-5 3 3 5-7M18 7v3M18 7h-3',
  engine: 'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM12 4v2M12 18v2M4 12h2M18 12h2M6.3 6.3l1.5 1.5M16.2 16.2l1.5 1.5M6.3 17.7l1.5-1.5M16.2 7.8l1.5-1.5',
  cleanup: 'M14 4l-5 9M6 13h8l1 7H4zM8 16v4M11 16v4M16 7l4-1-3 3 1 3',
  access: 'M12 4l7 3v5c0 4-3 7-7 8-4-1-7-4-7-8V7zM9.5 12l2 2 3.5-4',
  search: 'M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15.5 15.5 20 20',
  plus: 'M12 5v14M5 12h14', close: 'M6 6l12 12M18 6 6 18', check: 'M5 12.5l4.5 4.5L19 7.5', trash: 'M5 7h14M9 7V4.5h6V7M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5',
  pause: 'M9 5v14M15 5v14', play: 'M8 5l11 7-11 7z', copy: 'M9 9h10v11H9zM6 15H5V4h10v2', more: 'M12 6v.01M12 12v.01M12 18v.01', down: 'M6 9l6 6 6-6',
  undo: 'M9 7 5 11l4 4M5 11h9a5 5 0 0 1 0 10h-2', upload: 'M12 16V5M7.5 9 12 4.5 16.5 9M5 19h14', download: 'M12 5v11M7.5 12l4.5 4.5 4.5-4.5M5 20h14',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M5.6 18.4 7 17M17 7l1.4-1.4',
  moon: 'M19 14.5A7.5 7.5 0 0 1 9.5 5a7.5 7.5 0 1 0 9.5 9.5z', help: 'M9 9a3 3 0 1 1 4 3c-.8.4-1 1-1 2M12 17.5v.01M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z',
  contrast: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 4v16M12 8h5.6M12 12h8M12 16h5.6',
  eye: 'M3 12s3.5-6 9-6 9 6 9 6-3.5 6-9 6-9-6-9-6zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z', globe: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c3 3 3 15 0 18-3-3-3-15 0-18z',
  send: 'M4 12l16-7-5 15-3-6zM12 14l8-9', refresh: 'M19 8a8 8 0 1 0 1 6M19 4v4h-4', out: 'M14 5H6v14h8M11 12h9M17 9l3 3-3 3', filter: 'M4 6h16M7 12h10M10 18h4',
} as const;
export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d={paths[name]} /></svg>;
}
