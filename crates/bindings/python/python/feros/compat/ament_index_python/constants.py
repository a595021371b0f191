"""The location of the index, and the variables that name it."""

RESOURCE_INDEX_SUBFOLDER = 'share/ament_index/resource_index'
AMENT_PREFIX_PATH_ENV_VAR = 'AMENT_PREFIX_PATH'
FEROS_PREFIX_PATH_ENV_VAR = 'FEROS_PREFIX_PATH'
