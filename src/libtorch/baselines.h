// The operators LANO is compared with, one file each; their equations are there, costs and sources in docs/models.md.
#pragma once

#include <memory>

#include "libtorch/operator_model.h"
#include "model_spec/baseline_config.h"

namespace lano {

std::shared_ptr<OperatorModel> make_galerkin(const BaselineConfig& config, const LanoShape& shape);
std::shared_ptr<OperatorModel> make_ht_net(const BaselineConfig& config, const LanoShape& shape);
std::shared_ptr<OperatorModel> make_oformer(const BaselineConfig& config, const LanoShape& shape);
std::shared_ptr<OperatorModel> make_gnot(const BaselineConfig& config, const LanoShape& shape);
std::shared_ptr<OperatorModel> make_factformer(const BaselineConfig& config, const LanoShape& shape);
std::shared_ptr<OperatorModel> make_ono(const BaselineConfig& config, const LanoShape& shape);
std::shared_ptr<OperatorModel> make_transolver(const BaselineConfig& config, const LanoShape& shape);
std::shared_ptr<OperatorModel> make_softmax(const BaselineConfig& config, const LanoShape& shape);
std::shared_ptr<OperatorModel> make_ano(const BaselineConfig& config, const LanoShape& shape);
std::shared_ptr<OperatorModel> make_fno(const BaselineConfig& config, const LanoShape& shape);
std::shared_ptr<OperatorModel> make_geo_fno(const BaselineConfig& config, const LanoShape& shape);
std::shared_ptr<OperatorModel> make_f_fno(const BaselineConfig& config, const LanoShape& shape);
std::shared_ptr<OperatorModel> make_wmt(const BaselineConfig& config, const LanoShape& shape);
std::shared_ptr<OperatorModel> make_u_fno(const BaselineConfig& config, const LanoShape& shape);
std::shared_ptr<OperatorModel> make_u_no(const BaselineConfig& config, const LanoShape& shape);
std::shared_ptr<OperatorModel> make_lsm(const BaselineConfig& config, const LanoShape& shape);
std::shared_ptr<OperatorModel> make_deeponet(const BaselineConfig& config, const LanoShape& shape);

}  // namespace lano
